"""The journal of opt-outs: on disk before a person reads that it is done, and enough to bring everything back."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from siteglass.corpus.lead import Lead
from siteglass.settings import Settings, SettingsError
from siteglass.suppression.journal import open_journal
from siteglass.suppression.values import Hasher, read_value
from testing.accounts import owner
from testing.api_calls import ENRICH
from testing.mails import Outbox
from testing.service import API_KEY, serving
from tests.opt_out.conftest import ASK, CONFIRM
from tests.suppression.world import World, world

# One world for all of them: in one worker.

LEADS = [
    Lead(domain=f"{name}-journal.com", crawled_at_ms=1, emails=(f"jo@{name}-journal.com",), country="USA")
    for name in ("ant", "bee", "cat", "dog", "elk")
]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("journal")
    changes: dict[str, Any] = {
        "opt_out_journal": str(folder / "opt-outs.jsonl"),
        "mail_url": f"file:{folder / 'outbox'}",
        "mail_from": "privacy@sender.test",
    }
    with world("journal", LEADS, folder, **changes) as made:
        yield made


def _lines(settings: Settings) -> list[dict[str, str]]:
    return [json.loads(line) for line in Path(settings.opt_out_journal).read_text().splitlines()]


def _ask(client: httpx.Client, settings: Settings, email: str) -> dict[str, str]:
    """What confirms a request for an address."""
    asked = client.post(ASK, json={"email": email}).raise_for_status().json()
    outbox = Outbox(Path(settings.mail_url.removeprefix("file:")))
    return {"ticket": asked["ticket"], "code": outbox.code(email)}


def _emails(client: httpx.Client, domain: str) -> list[str]:
    response = client.post(ENRICH, json={"domains": [domain]}, headers={"X-API-Key": API_KEY}).raise_for_status()
    return list(response.json()["results"][0]["data"]["emails"])


def _forget(settings: Settings) -> None:
    """As a restored backup leaves the database: without its newest opt-outs."""

    async def delete() -> None:
        connection = await asyncpg.connect(owner(settings.postgres_dsn), timeout=10)
        for table in ("suppressed_leads", "suppressed"):
            await connection.execute(f"DELETE FROM {settings.postgres_schema}.{table}")
        await connection.close()

    asyncio.run(delete())


def test_nobody_reads_that_it_is_done_before_it_is_on_disk(scene: World, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = scene.settings
    with serving(settings) as client:
        proof = _ask(client, settings, "jo@ant-journal.com")
        synced: list[str] = []

        def fail(descriptor: int) -> None:
            synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
            raise OSError(5, "Input/output error")

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fail)
            refused = client.post(CONFIRM, json=proof)
        assert (refused.status_code, synced) == (503, [settings.opt_out_journal])
        # It is hidden all the same: the list had it before.
        assert client.post(CONFIRM, json=proof).raise_for_status().json()["suppressed"] is True
    listed = Hasher(settings).of_value(read_value("jo@ant-journal.com")).hex()
    last = _lines(settings)[-1]
    assert (last["kind"], last["value"]) == ("email", listed)
    text = Path(settings.opt_out_journal).read_text()
    assert "ant-journal.com" not in text
    assert stat.S_IMODE(os.stat(settings.opt_out_journal).st_mode) == 0o600


def test_a_restored_database_serves_nobody_until_the_journal_is_replayed(scene: World) -> None:
    settings = scene.settings
    with serving(settings) as client:
        client.post(CONFIRM, json=_ask(client, settings, "jo@bee-journal.com")).raise_for_status()
        assert _emails(client, "bee-journal.com") == []
    scene.command("suppress", "add", "cat-journal.com", "--reason", "ticket 1")
    _forget(settings)
    scene.rebuild()  # from the records, which have the addresses
    with serving(settings) as client:
        for response in (client.get("/readyz"), client.post("/v1/leads/search", json={"limit": 5})):
            assert response.status_code == 503
        # New entries must not push the lost ones out of the part that is compared.
        before = _lines(settings)
        refused = scene.command("suppress", "add", "elk-journal.com", "--reason", "ticket 4", code=2).stderr
        assert "run `siteglass suppress replay` first" in refused
        assert _lines(settings) == before
        told = scene.command("suppress", "replay").stdout.splitlines()
        lacking = len({(line["kind"], line["value"]) for line in _lines(settings)})
        assert told[0].endswith(f" entries read; {lacking} were missing from the list.")
        again = scene.command("suppress", "replay").stdout
        assert "; 0 were missing from the list." in again
    with serving(settings) as client:
        assert client.get("/readyz").status_code == 200
        assert _emails(client, "bee-journal.com") == []
        gone = client.post(ENRICH, json={"domains": ["cat-journal.com"]}).raise_for_status().json()["results"]
        assert gone[0]["status"] == "not_found"
        assert _emails(client, "dog-journal.com") == ["jo@dog-journal.com"]
    assert "replayed from the journal after a restore" in scene.command("audit").stdout


def test_a_line_that_a_crash_cut_harms_neither_those_before_nor_after(scene: World, tmp_path: Path) -> None:
    settings = replace(scene.settings, opt_out_journal=str(tmp_path / "cut.jsonl"))
    own = World(settings, scene.source)
    own.command("suppress", "add", "dog-journal.com", "--reason", "ticket 2")
    journal = Path(settings.opt_out_journal)
    whole = journal.read_bytes()
    journal.write_bytes(whole + whole[:30])
    own.command("suppress", "add", "elk-journal.com", "--reason", "ticket 3")
    _forget(settings)
    assert own.command("suppress", "replay").stdout.startswith("2 entries read; 2 were missing")
    assert own.command("suppress", "check", "dog-journal.com", "elk-journal.com").stdout.count("suppressed since") == 2


def test_a_journal_of_another_secret_is_refused(scene: World, tmp_path: Path) -> None:
    other = replace(scene.settings, suppression_secret="a secret that is not the one of the journal")
    line = {"at": "2026-11-17T00:00:00+00:00", "kind": "email", "secret": Hasher(other).proof().hex()[:16]}
    line["value"] = Hasher(other).pair(read_value("jo@elk-journal.com"))[1].hex()
    journal = tmp_path / "other.jsonl"
    journal.write_text(json.dumps(line) + "\n")
    refused = scene.command("suppress", "replay", str(journal), code=2).stderr
    assert "was written with another SITEGLASS_SUPPRESSION_SECRET" in refused


def test_a_journal_that_cannot_be_written_is_reported_before_the_service_starts(scene: World, tmp_path: Path) -> None:
    missing = replace(scene.settings, opt_out_journal=str(tmp_path / "nowhere/journal"))
    refused = World(missing, scene.source).command("suppress", "add", "x-journal.com", "--reason", "t", code=2).stderr
    assert refused.endswith(f"siteglass: SITEGLASS_OPT_OUT_JOURNAL: there is no folder {tmp_path / 'nowhere'}.\n")
    no_file = replace(scene.settings, opt_out_journal="")
    told = World(no_file, scene.source).command("suppress", "replay", code=2).stderr
    assert told == "siteglass: SITEGLASS_OPT_OUT_JOURNAL is not set: name the journals to replay.\n"


def test_a_journal_that_belongs_to_another_user_is_refused(scene: World) -> None:
    settings = replace(scene.settings, opt_out_journal="/usr/opt-outs.jsonl")
    real = os.getuid()
    if real == 0:  # root may write everywhere; `access` looks at the real user
        os.setreuid(65534, -1)
    try:
        user = os.getuid()
        with pytest.raises(SettingsError) as refused:
            open_journal(settings, Hasher(settings))
    finally:
        os.setreuid(real, -1)
    assert str(refused.value) == (
        f"SITEGLASS_OPT_OUT_JOURNAL: /usr cannot be written. Give it to the user of the service (uid {user})."
    )
