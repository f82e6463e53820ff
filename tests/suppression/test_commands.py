"""`siteglass suppress`: what an operator types and reads, and what the database keeps of it: no address."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import asyncpg
import pytest

from siteglass.app import create_app
from siteglass.corpus.lead import Lead
from siteglass.settings import Settings
from siteglass_demo.leads import generate
from testing.accounts import owner
from testing.service import add, serving
from tests.suppression.world import World, results, walked, world

ADDRESS, PHONE = "berta.secret@example.com", "+49 40 5550142"

# One world for all of them: in one worker.


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world("commands", generate(40, seed=6), tmp_path_factory.mktemp("commands")) as made:
        add(
            made.settings,
            [
                Lead(domain="two.example", crawled_at_ms=1, emails=(ADDRESS, "x@two.example"), phones=(PHONE,)),
                Lead(domain="shop.gone.example", crawled_at_ms=1, emails=("y@gone.example",)),
            ],
            made.settings.lead_store,
        )
        yield made


def test_add_check_list_and_audit(scene: World) -> None:
    added = scene.command("suppress", "add", ADDRESS, PHONE, "gone.example", "--reason", "ticket 4711").stdout
    assert added == (
        "3 values, 3 of them new; 2 leads had one: 1 documents rewritten, 1 deleted. Responses change within 60 s.\n"
    )
    again = scene.command("suppress", "add", ADDRESS, "--reason", "ticket 4712").stdout
    assert again.startswith("1 values, 0 of them new; 0 leads had one")
    checked = scene.command("suppress", "check", ADDRESS.upper(), "https://www.gone.example/").stdout.splitlines()
    assert all(re.search(r": suppressed since .* UTC by \S+: ticket 4711$", line) for line in checked)
    missing = scene.command("suppress", "check", ADDRESS, "other.example", code=1).stdout.splitlines()
    assert missing[1] == "other.example: not suppressed"
    listed = scene.command("suppress", "list").stdout
    assert re.search(r"^domain  gone\.example  suppressed since", listed, re.MULTILINE)
    assert re.search(r"^email   [0-9a-f]{16}…  suppressed since", listed, re.MULTILINE)
    audit = scene.command("audit").stdout
    assert "suppression.add" in audit
    assert "ticket 4711" in audit
    everything = listed + audit
    assert not any(secret in everything for secret in (ADDRESS, "berta", "5550142"))
    with serving(scene.settings) as client:
        shown = {record["domain"]: record for record in results(walked(client))}
        assert "shop.gone.example" not in shown
        assert shown["two.example"]["emails"] == ["x@two.example"]


@pytest.mark.promise("feature.opt_out_hash")
def test_no_table_holds_an_address(scene: World) -> None:
    """Every row of every table, as text and as bytes."""
    scene.command("suppress", "add", ADDRESS, PHONE, "--reason", "again")

    async def everything() -> str:
        connection = await asyncpg.connect(owner(scene.settings.postgres_dsn), timeout=10)
        schema = scene.settings.postgres_schema
        tables = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = $1", schema)
        texts = [
            str(row[0])
            for table in tables
            for row in await connection.fetch(f"SELECT t::text FROM {schema}.{table['tablename']} t")
        ]
        await connection.close()
        return "\n".join(texts)

    held = asyncio.run(everything())
    for secret in (ADDRESS, "49405550142"):
        assert secret not in held
        assert secret.encode().hex() not in held


def test_import_tells_lines_that_it_cannot_read(scene: World, tmp_path: Path) -> None:
    listing = tmp_path / "list.csv"
    lines = [
        "email,since",
        "# a remark",
        "c@example.com,2024",
        '"never closed',
        "",
        '"d.example",x',
        "x" * 200_000,
        "e.example",
    ]
    listing.write_text("\n".join(lines))
    done = scene.command("suppress", "import", str(listing), "--reason", "registry", code=1)
    assert done.stdout.startswith("3 values, 3 of them new")
    assert "2 lines are not a domain, address, phone or hash: 4, 7" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("add", "nothing", "--reason", "x"), "expected a domain, an address or a phone number"),
        (("add", "a.example", "--reason", "wrote as anna@a.example"), "no email address or phone number"),
        (("add", "a.example", "--reason", "called from +49 30 1234567"), "no email address or phone number"),
        (("add", "a.example"), "Missing option '--reason'"),
    ],
)
def test_first_mistakes(scene: World, words: tuple[str, ...], message: str) -> None:
    assert message in scene.command("suppress", *words, code=2).stderr


def test_another_secret_is_refused(scene: World) -> None:
    other = World(
        replace(scene.settings, suppression_secret="another secret that is long enough to be one"), scene.source
    )
    refused = other.command("suppress", "add", "e.example", "--reason", "x", code=2)
    assert "differs from the secret that the opt-out list was created with" in refused.stderr
    refused = other.command("index", "load", str(scene.source), code=2)
    assert "Restore the original secret" in refused.stderr


def test_a_worker_with_another_secret_answers_nothing(scene: World) -> None:
    with serving(replace(scene.settings, suppression_secret="another secret that is long enough to be one")) as client:
        assert client.post("/v1/leads/search", json={}).status_code == 503
        assert client.get("/readyz").status_code == 503
        assert client.get("/healthz").status_code == 200


def test_check_finds_what_is_listed_in_another_way(scene: World) -> None:
    digest = hashlib.sha256(b"ha.shed@gmail.com").hexdigest()
    scene.command("suppress", "add", f"email:sha256:{digest}", "site.example", "--reason", "registry")
    checked = scene.command("suppress", "check", "Ha.Shed@gmail.com", "shop.site.example").stdout
    assert checked.count(": suppressed since") == 2


def test_no_secret_is_told_at_the_start(scene: World) -> None:
    with pytest.raises(ValueError, match="SITEGLASS_SUPPRESSION_SECRET"):
        create_app(replace(scene.settings, suppression_secret=""))


@pytest.mark.promise("feature.personal_addresses")
def test_personal_addresses_of_some_countries_are_not_shown(scene: World) -> None:
    """At once where the index still has them, and never in one that is built under the policy."""
    hiding = replace(scene.settings, personal_addresses_hidden=("EEA",))
    leads = [
        Lead(
            domain=f"{country.lower()}.example",
            crawled_at_ms=1,
            country=country,
            emails=(f"info@{country}.example", f"anna@{country}.example"),
            emails_personal=(f"anna@{country}.example",),
        )
        for country in ("DEU", "USA")
    ]
    only = Lead(
        domain="only.example", crawled_at_ms=1, country="FRA", emails=("a@o.example",), emails_personal=("a@o.example",)
    )
    add(scene.settings, [*leads, only], scene.settings.lead_store)
    _check_policy(hiding)
    assert _personal_in_index(scene) == {"DEU", "USA", "FRA"}
    built = World(hiding, scene.source)
    add(hiding, [*leads, only], hiding.lead_store)
    assert _personal_in_index(built) == {"USA"}
    _check_policy(hiding)


def _check_policy(settings: Settings) -> None:
    with serving(settings) as client:
        answer = client.post("/v1/leads/enrich", json={"domains": ["deu.example", "usa.example", "only.example"]})
        assert [item["data"]["emails"] for item in answer.json()["results"]] == [
            ["info@DEU.example"],
            ["info@USA.example", "anna@USA.example"],
            [],
        ]
        page = client.post("/v1/leads/search", json={"country": "FRA", "limit": 100})
        shown = {record["domain"]: record["emails"] for record in page.json()["results"]}
        assert shown["only.example"] == []
        charged = sum(bool(emails) for emails in shown.values())
        assert page.headers["X-Credits-Lead-Used"] == str(charged)


def _personal_in_index(scene: World) -> set[str]:
    documents = [document for some in scene.documents().values() for document in some]
    return {
        document["country"]
        for document in documents
        if document["domain"].endswith(".example") and document["emails_personal"]
    }
