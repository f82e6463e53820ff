"""Writers and opt-outs at the same time: whoever was under way when a value was listed, it does not stay."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import LeadFileError, record_place, write_parquet
from siteglass.index import generations
from siteglass.index import load as loading
from siteglass.index.index import Index
from siteglass.index.writing import Preparer, WriteReport, write
from siteglass.privacy import opt_out
from siteglass.suppression import entries
from siteglass.suppression.values import Hasher, Kind, read_value
from siteglass_demo.leads import generate
from testing.accounts import owner
from testing.service import add, run, serving
from tests.suppression.world import World, results, told, walked, world

ADDRESS, PHONE = "anna.berg@example.com", "+49 30 555 0100"

# One world for all of them: in one worker.


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world("races", generate(60, seed=5), tmp_path_factory.mktemp("races")) as made:
        yield made


def _lead(domain: str, **values: Any) -> Lead:
    return Lead(domain=domain, crawled_at_ms=1_790_000_000_000, **values)


def _suppress(scene: World, *texts: str) -> opt_out.Outcome:
    values = [read_value(text) for text in texts]
    return run(scene.settings, lambda index: opt_out.suppress(index, values, reason="asked to", actor="tests"))


def _in_index(scene: World, text: str) -> bool:
    return any(text in str(documents) for documents in scene.documents().values())


@pytest.mark.promise("feature.opt_out_races")
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize(
    ("suppressed", "lead"),
    [
        ("race-{moment}-domain.example", {}),
        ("race-{moment}@example.com", {"emails": ("race-{moment}@example.com", "other@example.com")}),
        ("+49 30 {digits}", {"phones": ("+49 30 {digits}",)}),
    ],
    ids=["domain", "email", "phone"],
)
def test_a_value_listed_while_its_lead_is_written_does_not_stay(
    scene: World, monkeypatch: pytest.MonkeyPatch, moment: str, suppressed: str, lead: dict[str, Any]
) -> None:
    """The writer has asked the list; then the value is listed and looked for, before or after the write."""
    given = {"moment": moment, "digits": "5550199" if moment == "before" else "5550198"}
    text = suppressed.format(**given)
    values = {name: tuple(one.format(**given) for one in some) for name, some in lead.items()}
    kind = "domain" if not lead else next(iter(lead))
    domain = text if kind == "domain" else f"race-{moment}-{kind}.example"

    async def beside(live_index: Index, target: str, lines: list[bytes], told_: Any, **how: bool) -> None:
        monkeypatch.setattr(loading, "write", write)
        listing = opt_out.suppress(live_index, [read_value(text)], reason="asked to", actor="tests")
        if moment == "before":
            await listing
        await write(live_index, target, lines, told_, **how)
        if moment == "after":
            await listing

    monkeypatch.setattr(loading, "write", beside)
    add(scene.settings, [_lead(domain, **values)], scene.settings.lead_store)
    shown = text if kind == "domain" else next(iter(values.values()))[0]
    assert not _in_index(scene, shown)
    if kind == "emails":
        assert _in_index(scene, "other@example.com")


@pytest.mark.promise("feature.opt_out_races")
def test_what_a_killed_writer_left_is_found_later(scene: World) -> None:
    """It wrote what the list did not yet have, and never came to ask again."""
    address = "left@example.com"
    lead = _lead("left.example", emails=(address, "stays@example.com"))
    _suppress(scene, address)
    path = scene.settings.lead_store / "left.parquet"
    write_parquet(path, [lead])

    async def unasked(live_index: Index) -> None:
        prepared = Preparer(scene.settings).prepare(lead, record_place(path, 0))
        for target in await generations.writable(live_index):
            await write(live_index, target, [prepared.lines], WriteReport())

    run(scene.settings, unasked)
    assert _in_index(scene, address)

    async def make_older() -> None:
        connection = await asyncpg.connect(owner(scene.settings.postgres_dsn), timeout=10)
        await connection.execute(
            f"UPDATE {scene.settings.postgres_schema}.suppressed SET at = at - $1::interval",
            opt_out.SETTLE_AFTER + timedelta(seconds=1),
        )
        await connection.close()

    asyncio.run(make_older())
    run(scene.settings, opt_out.settle)
    assert not _in_index(scene, address)
    assert _in_index(scene, "stays@example.com")


def test_of_two_opt_outs_of_one_lead_none_brings_back_the_other(scene: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first has asked the list and is about to write; the second lists, looks and writes meanwhile."""
    first, second = "first@pair.example", "second@pair.example"
    add(
        scene.settings, [_lead("pair.example", emails=(first, second, "third@pair.example"))], scene.settings.lead_store
    )

    async def beside(live_index: Index, target: str, lines: list[bytes], told_: Any, **how: bool) -> None:
        monkeypatch.setattr(opt_out, "write", write)
        await opt_out.suppress(live_index, [read_value(second)], reason="asked to", actor="tests")
        await write(live_index, target, lines, told_, **how)

    monkeypatch.setattr(opt_out, "write", beside)
    _suppress(scene, first)
    assert not _in_index(scene, first)
    assert not _in_index(scene, second)
    assert _in_index(scene, "third@pair.example")


def test_without_the_lead_store_answers_hide_it_all_the_same(scene: World, tmp_path: Path) -> None:
    address = "storeless@example.com"
    add(scene.settings, [_lead("storeless.example", emails=(address,))], scene.settings.lead_store)
    without = World(replace(scene.settings, lead_store=tmp_path / "nowhere"), scene.source)
    with pytest.raises(LeadFileError, match="the lead store is not here"):
        _suppress(without, address)
    with serving(scene.settings) as client:
        answer = client.post("/v1/leads/enrich", json={"domains": ["storeless.example"]})
        assert answer.json()["results"][0]["data"]["emails"] == []
    assert _in_index(scene, address)
    _suppress(scene, address)
    assert not _in_index(scene, address)


def test_a_damaged_file_of_records_stops_nobody(scene: World) -> None:
    """What cannot be written again is deleted."""
    address, other = "damaged@example.com", "whole@example.com"
    add(scene.settings, [_lead("damaged.example", emails=(address,))], scene.settings.lead_store)
    newest = max(scene.settings.lead_store.glob("added-*.parquet"))
    content = newest.read_bytes()
    newest.write_bytes(content[:4] + b"\0" * (len(content) // 2) + content[4 + len(content) // 2 :])
    add(scene.settings, [_lead("whole.example", emails=(other, "stays@whole.example"))], scene.settings.lead_store)
    outcome = _suppress(scene, address, other)
    assert (outcome.without_record, outcome.failed) == (1, 0)
    assert not _in_index(scene, address)
    assert not _in_index(scene, other)
    assert _in_index(scene, "stays@whole.example")


def test_a_replay_that_shows_a_text_and_not_the_phones(scene: World) -> None:
    phone = "+49 40 5550177"
    lead = _lead("texted.example", phones=(phone,), description=f"Call {phone} now.")
    add(scene.settings, [lead], scene.settings.lead_store)
    with serving(scene.settings) as client:
        asked: Any = {
            "json": {"domains": [lead.domain], "select": ["description"]},
            "headers": {"Idempotency-Key": "texted"},
        }
        assert phone in client.post("/v1/leads/enrich", **asked).text
        _suppress(scene, phone)
        again = client.post("/v1/leads/enrich", **asked)
        assert again.headers["Idempotency-Redacted"] == "true"
        assert again.json()["results"][0]["data"] == {"description": "Call  now."}
        untouched: Any = {"json": {"domains": ["nobody.example"]}, "headers": {"Idempotency-Key": "untouched"}}
        first = client.post("/v1/leads/enrich", **untouched)
        assert client.post("/v1/leads/enrich", **untouched).content == first.content


def test_access_tells_where_it_stood_and_nothing_of_others(scene: World) -> None:
    mine, others = "mine@access.example", "others@access.example"
    lead = _lead("access.example", emails=(mine, others), description=f"Ask {others} or {mine}")
    add(scene.settings, [lead], scene.settings.lead_store)
    run(scene.settings, _refreshed)

    def held(text: str) -> opt_out.HeldData:
        return run(scene.settings, lambda live_index: opt_out.held(live_index, read_value(text)))

    before = held(mine)
    assert [(one.domain, set(one.fields)) for one in before.leads] == [("access.example", {"emails", "description"})]
    _suppress(scene, others)
    (of_site,) = held("access.example").leads
    assert of_site.record["emails"] == (mine,)
    assert others not in str(of_site.record)
    after = held(others)
    assert (after.leads, after.sites) == ([], ["access.example"])
    assert after.suppressed_since is not None


async def _refreshed(live_index: Index) -> None:
    await generations.refresh(live_index, await generations.writable(live_index))


@pytest.mark.promise("charge.suppression")
def test_answers_hide_what_still_stands_in_the_index(scene: World) -> None:
    """The worker's own list: by domain, read when it starts."""
    leads = [
        _lead("still-whole.example", emails=("a@still-whole.example",)),
        _lead("still-part.example", emails=(ADDRESS, "b@still-part.example"), phones=(PHONE,)),
        _lead("still-only.example", emails=("c@still-only.example",)),
    ]
    add(scene.settings, leads, scene.settings.lead_store)

    async def note(live_index: Index) -> None:
        for lead in leads:
            await _noted(live_index, lead)

    run(scene.settings, note)
    with serving(scene.settings) as client:
        pages = walked(client)
        shown = {record["domain"]: record for record in results(pages)}
        assert "still-whole.example" not in shown
        assert shown["still-part.example"]["emails"] == ["b@still-part.example"]
        assert shown["still-part.example"]["phones"] == []
        assert shown["still-only.example"]["emails"] == []
        receipt = client.get(f"/v1/ledger/{pages[0].headers['X-Request-Id']}").json()
        marks = {lead["domain"]: lead["reason"] for entry in receipt["entries"] for lead in entry["domains"]}
        assert marks["still-only.example"] == "no_address"
        assert "still-whole.example" not in marks
        enriched = client.post("/v1/leads/enrich", json={"domains": [lead.domain for lead in leads]})
        assert [item["status"] for item in enriched.json()["results"]] == ["not_found", "success", "success"]
        assert ADDRESS not in told(enriched)
        assert enriched.headers["X-Credits-Lead-Used"] == "2"


async def _noted(live_index: Index, lead: Lead) -> None:
    """As the first step of suppressing leaves it: on the list, not yet out of the index."""
    hasher = Hasher(live_index.settings)
    texts = [lead.domain] if "whole" in lead.domain else [lead.emails[0], *lead.phones]
    pairs = [hasher.pair(read_value(text)) for text in texts]
    await entries.add(live_index.postgres, pairs, reason="asked to", actor="tests")
    await entries.remember(
        live_index.postgres,
        [entries.FoundHash(lead.domain, value) for kind, value in pairs if kind is not Kind.DOMAIN],
    )
