"""`siteglass doctor`, run as the operator runs it: what it finds, and whether what it says fixes it."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from siteglass.index.mapping import SCHEMA_VERSION
from siteglass.settings import Settings, environment_of, variable
from testing.accounts import drop_schema
from testing.ports import free_port
from testing.service import RUN_PREFIX, settings_for

PROGRAMS = Path(sys.executable).parent
ALL = [
    *(
        "settings",
        "cursor secrets",
        "key secrets",
        "opt-out secret",
        "python",
        "postgresql",
        "tables",
        "ledger",
        "durability",
    ),
    *(
        "clock",
        "accounts",
        "opt-outs",
        "redis",
        "opensearch",
        "shards",
        "cluster setup",
        "disk",
        "leads",
        "test leads",
        "lead store",
        "roots",
    ),
    *("mail", "dashboard", "port"),
]
NEEDS_POSTGRESQL = ["tables", "ledger", "durability", "clock", "accounts", "opt-outs"]
NEEDS_OPENSEARCH = ["shards", "cluster setup", "disk", "leads", "test leads"]


class Patient:
    """Settings that a test makes ill, and a folder without a demo in it."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.folder = folder
        others = {name: value for name, value in os.environ.items() if not name.startswith("SITEGLASS_")}
        path = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
        self.environment = {**others, "PATH": path, **environment_of(settings)}

    def bash(self, words: str, code: int = 0) -> str:
        done = subprocess.run(
            ["bash", "-c", words], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == code, (words, done.stdout, done.stderr)
        assert done.stderr == "" or code == 0
        return done.stdout

    def examined(self, code: int, before: str = "true") -> dict[str, dict[str, str]]:
        """The findings by check, and in the order of the checks; `before`: what the shell does first."""
        told = json.loads(self.bash(f"{before}; siteglass doctor --json", code))
        assert told["well"] is (code == 0)
        return {finding["check"]: finding for finding in told["checks"]}

    def states(self, code: int) -> dict[str, list[str]]:
        """The checks by state."""
        by_state: dict[str, list[str]] = {}
        for check, finding in self.examined(code).items():
            by_state.setdefault(finding["state"], []).append(check)
        return by_state


@pytest.fixture
def well(live_settings: Settings, client: httpx.Client, tmp_path: Path) -> Patient:
    """Nothing is wrong: the service runs over the demo leads, with a key that pays."""
    (tmp_path / "store").mkdir()
    settings = replace(
        live_settings,
        cursor_secrets=("another secret than that of the keys",),
        port=client.base_url.port or 80,
        lead_store=tmp_path / "store",
        mail_url="file:outbox",
        mail_from="privacy@example.com",
    )
    return Patient(settings, tmp_path)


@pytest.fixture
def new(tmp_path: Path) -> Iterator[Patient]:
    """Engines that run, without any data of Siteglass."""
    (tmp_path / "store").mkdir()
    name = f"{RUN_PREFIX}_new_{secrets.token_hex(4)}"
    settings = settings_for(
        name,
        cursor_secrets=("another secret than that of the keys",),
        postgres_schema=name,
        port=free_port(),
        lead_store=tmp_path / "store",
        mail_url="file:outbox",
        mail_from="privacy@example.com",
    )
    yield Patient(settings, tmp_path)
    asyncio.run(drop_schema(settings.postgres_dsn, name))


def test_all_is_well(well: Patient) -> None:
    found = well.examined(code=0)
    assert [(check, finding["state"], finding["mend"]) for check, finding in found.items()] == [
        (check, "ok", "") for check in ALL
    ]
    assert found["leads"]["found"].startswith("20,000 in ")
    assert found["port"]["found"].endswith("and is ready")


def test_engines_for_development_do_not_pass_for_production(well: Patient) -> None:
    told = json.loads(well.bash("ulimit -n 900; siteglass doctor --production --json", code=1))
    checklist = {finding["check"]: finding for finding in told["checks"][len(ALL) :]}
    assert {check: finding["state"] for check, finding in checklist.items()} == {
        "encryption": "ok",
        "passwords": "wrong",
        "secrets": "wrong",
        "backups": "wrong",
        "journal": "wrong",
        "public address": "wrong",
        "outgoing": "ok",
        "metrics": "wrong",
        "open files": "warning",
    }
    assert checklist["passwords"]["found"].startswith("PostgreSQL, Redis, OpenSearch: lets in everybody")
    assert checklist["secrets"]["found"] == "two settings share a secret"
    assert checklist["backups"]["found"] == "PostgreSQL archives nothing"
    well.environment["SITEGLASS_PUBLIC_URL"] = "https://leads.example.com"
    well.environment["SITEGLASS_TRUSTED_PROXIES"] = "10.0.0.1,0.0.0.0/0"
    well.environment["SITEGLASS_REDIS_URL"] = "redis://cache.invalid:6379/0"
    well.environment |= {"SITEGLASS_METRICS_PORT": "9464", "SITEGLASS_METRICS_HOST": "8.8.8.8"}
    told = json.loads(well.bash("siteglass doctor --production --json", code=1))
    found = {finding["check"]: finding["found"] for finding in told["checks"]}
    assert found["public address"] == "0.0.0.0/0 is trusted as a proxy: callers could claim any address"
    assert found["encryption"] == "Redis: reached over the network without TLS"
    assert found["metrics"] == "8.8.8.8:9464 is a public address, and metrics have no password"
    well.environment |= {"SITEGLASS_DEMO_NETWORKS": "127.0.0.0/8", "SITEGLASS_OUTGOING_ALLOWED": "127.1.0.0/16"}
    told = json.loads(well.bash("siteglass doctor --production --json", code=1))
    found = {finding["check"]: finding["found"] for finding in told["checks"]}
    assert found["public address"] == "127.0.0.0/8 may enter by a demo's link, without a password"
    assert found["outgoing"] == "the crawler may connect to 127.1.0.0/16: strangers choose what it fetches"


def test_it_is_told_one_line_a_check(well: Patient) -> None:
    first, *lines, last = well.bash("siteglass doctor").splitlines()
    assert first == "Looking at the settings of the environment."
    assert [line[2:16].strip() for line in lines] == ALL
    assert {line[0] for line in lines} == {"✓"}
    assert last == "All is well."
    well.environment["SITEGLASS_REDIS_URL"] = "redis://127.0.0.1:9/0"
    *_, last = well.bash("siteglass doctor", code=1).splitlines()
    assert last == "1 to fix, 0 to consider."


@pytest.mark.parametrize("setting", ["cursor_secrets", "key_secrets", "suppression_secret"])
@pytest.mark.parametrize("value", ["", "too short"])
def test_a_secret_that_cannot_be_used(well: Patient, setting: str, value: str) -> None:
    well.environment[variable(setting)] = value
    check = setting.replace("suppression", "opt-out").replace("_", " ")
    found = well.examined(code=1)
    assert found[check]["state"] == "wrong"
    assert variable(setting) in found[check]["found"]
    assert "32 characters" in found[check]["found"]
    mend = found[check]["mend"]
    # New key secrets know none of the old keys, another secret nobody on the list: something else needs a fix then.
    mended = well.examined(code=0 if setting == "cursor_secrets" else 1, before=mend)
    assert mended[check]["state"] == "ok"


@pytest.mark.parametrize(
    ("setting", "address", "check", "skipped"),
    [
        ("postgres_dsn", "postgresql://siteglass:hidden@127.0.0.1:9/siteglass", "postgresql", NEEDS_POSTGRESQL),
        ("postgres_dsn", "postgresql://siteglass:hidden@{postgres}/nowhere", "postgresql", NEEDS_POSTGRESQL),
        ("redis_url", "redis://:hidden@127.0.0.1:9/0", "redis", []),
        ("opensearch_urls", "http://admin:hidden@127.0.0.1:9", "opensearch", NEEDS_OPENSEARCH),
    ],
)
def test_an_engine_that_is_not_there(well: Patient, setting: str, address: str, check: str, skipped: list[str]) -> None:
    place = well.environment["SITEGLASS_POSTGRES_DSN"].rpartition("@")[2].partition("/")[0]
    well.environment[variable(setting)] = address.replace("{postgres}", place)
    found = well.examined(code=1)
    assert [name for name in ALL if found[name]["state"] == "wrong"] == [check]
    assert [name for name in ALL if found[name]["state"] == "skipped"] == skipped
    assert variable(setting) in found[check]["mend"]
    assert "hidden" not in json.dumps(found)
    for name in skipped:
        assert found[name]["found"] in (f"needs {check}", "needs tables")


def test_what_hangs_is_not_waited_for(well: Patient) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=50) as silent:
        place = f"127.0.0.1:{silent.getsockname()[1]}"
        well.environment |= {
            "SITEGLASS_POSTGRES_DSN": f"postgresql://siteglass@{place}/siteglass",
            "SITEGLASS_REDIS_URL": f"redis://{place}/0",
            "SITEGLASS_OPENSEARCH_URLS": f"http://{place}",
            "SITEGLASS_PORT": place.partition(":")[2],
        }
        started = time.monotonic()
        states = well.states(code=1)
    assert time.monotonic() - started < 60
    assert states["wrong"] == ["postgresql", "redis", "opensearch", "port"]
    assert states["skipped"] == NEEDS_POSTGRESQL + NEEDS_OPENSEARCH


def test_the_way_from_nothing_to_an_account_that_can_call(new: Patient) -> None:
    """Each fix is run as it is; the next finding shows that it helped."""
    seen = []
    while (tables := new.examined(code=1))["accounts"]["state"] != "ok":
        finding = tables["tables"] if tables["tables"]["state"] == "wrong" else tables["accounts"]
        seen.append((finding["check"], finding["state"], finding["mend"].partition(" 1")[0]))
        assert len(seen) < 6, seen
        new.bash(finding["mend"])
    assert seen == [
        ("tables", "wrong", "siteglass migrate"),
        ("accounts", "wrong", 'siteglass account create "First account"'),
        ("accounts", "wrong", "siteglass key create"),
        ("accounts", "warning", "siteglass credits grant"),
    ]


def test_the_way_from_nothing_to_leads(new: Patient) -> None:
    create, load, _ = new.examined(code=1)["leads"]["mend"].split("; ")
    assert (create, load) == ("siteglass index create", "siteglass index load FILE")
    name = new.bash(create).strip()
    new.bash("siteglass migrate")
    new.bash("siteglass demo generate --count 50 -o leads.ndjson")
    new.bash(load.replace("FILE", "leads.ndjson"))
    _refresh(new, name)
    found = new.examined(code=1)["leads"]
    assert found["mend"] == f"siteglass index promote {name}"
    new.bash(found["mend"])
    assert new.examined(code=1)["leads"] == {
        "check": "leads",
        "state": "ok",
        "found": f"50 in {name}, schema {SCHEMA_VERSION}",
        "mend": "",
    }


def _refresh(patient: Patient, name: str) -> None:
    """Let the engine count what was just written."""
    url = patient.environment["SITEGLASS_OPENSEARCH_URLS"]
    httpx.post(f"{url}/{name}/_refresh", timeout=30, trust_env=False).raise_for_status()


def test_a_live_generation_without_leads(new: Patient) -> None:
    new.bash('siteglass index promote "$(siteglass index create)" --force --reason test')
    found = new.examined(code=1)["leads"]
    assert (found["state"], found["mend"]) == ("warning", "siteglass index load FILE")


@pytest.mark.parametrize(
    ("changes", "check", "found", "mend"),
    [
        (
            {"SITEGLASS_CURSOR_SECRET": "x"},
            "settings",
            "SITEGLASS_CURSOR_SECRET is not a setting and has no effect",
            "unset SITEGLASS_CURSOR_SECRET; did you mean SITEGLASS_CURSOR_SECRETS?",
        ),
        (
            {"SITEGLASS_LEAD_STORE": "later"},
            "lead store",
            "later does not exist yet",
            "mkdir -p later, or set SITEGLASS_LEAD_STORE",
        ),
        (
            {"SITEGLASS_MAIL_URL": ""},
            "mail",
            "email is not configured: people can opt out with a domain, but not with an email address",
            "set SITEGLASS_MAIL_URL and SITEGLASS_MAIL_FROM",
        ),
        (
            {"SITEGLASS_DASHBOARD_SECRETS": "s" * 32, "SITEGLASS_PUBLIC_URL": "http://app.example.com"},
            "dashboard",
            "http://app.example.com/dashboard does not use https, so browsers will not keep people signed in",
            "put a proxy with TLS in front of it, and set SITEGLASS_PUBLIC_URL",
        ),
    ],
)
def test_a_warning_alone_is_well(well: Patient, changes: dict[str, str], check: str, found: str, mend: str) -> None:
    well.environment |= changes
    findings = well.examined(code=0)
    assert [name for name in ALL if findings[name]["state"] != "ok"] == [check]
    assert findings[check] == {"check": check, "state": "warning", "found": found, "mend": mend}


def test_one_secret_for_two_uses_is_a_warning(well: Patient) -> None:
    well.environment["SITEGLASS_CURSOR_SECRETS"] = well.environment["SITEGLASS_KEY_SECRETS"]
    finding = well.examined(code=0)["cursor secrets"]
    assert finding["state"] == "warning"
    assert well.examined(code=0, before=finding["mend"])["cursor secrets"]["state"] == "ok"


def test_keys_of_another_secret_are_named(well: Patient) -> None:
    well.environment["SITEGLASS_KEY_SECRETS"] = "a secret that none of the keys was made with"
    finding = well.examined(code=1)["accounts"]
    assert finding["state"] == "wrong"
    assert "need another secret in SITEGLASS_KEY_SECRETS" in finding["found"]


def test_keys_that_need_the_older_secret_are_counted(well: Patient) -> None:
    before = well.examined(code=0)["accounts"]["found"]
    newer = "a secret that none of the keys was made with"
    well.environment["SITEGLASS_KEY_SECRETS"] = f"{newer},{well.environment['SITEGLASS_KEY_SECRETS']}"
    keys = before.rpartition(" ")[2]
    assert well.examined(code=0)["accounts"]["found"] == (
        f"{before}, {keys} of them not used since the newest secret was set"
    )


def test_charges_that_a_crash_could_lose(well: Patient) -> None:
    well.environment["SITEGLASS_POSTGRES_DSN"] += "?synchronous_commit=off"
    finding = well.examined(code=1)["durability"]
    assert finding["state"] == "wrong"
    assert finding["found"] == "synchronous_commit is off (set by: client): a crash can lose charges"
    assert finding["mend"] == "remove it from SITEGLASS_POSTGRES_DSN"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"SITEGLASS_PORT": "many"}, "SITEGLASS_PORT must be a whole number, found 'many'"),
        ({"SITEGLASS_POSTGRES_SCHEMA": "Big One"}, "SITEGLASS_POSTGRES_SCHEMA"),
        ({"SITEGLASS_OPENSEARCH_URLS": "127.0.0.1:9200"}, "SITEGLASS_OPENSEARCH_URLS"),
        ({"SITEGLASS_OPENSEARCH_URLS": ""}, "SITEGLASS_OPENSEARCH_URLS"),
    ],
)
def test_settings_that_cannot_be_read(well: Patient, changes: dict[str, str], told: str) -> None:
    well.environment |= changes
    found: dict[str, Any] = well.examined(code=1)
    assert found.pop("settings")["found"] == told
    assert {finding["state"] for finding in found.values()} == {"skipped"}


def test_a_lead_store_that_is_a_file(well: Patient) -> None:
    (well.folder / "file").touch()
    well.environment["SITEGLASS_LEAD_STORE"] = "file"
    finding = well.examined(code=1)["lead store"]
    assert "SITEGLASS_LEAD_STORE" in finding["mend"]


def test_the_dashboard_is_served_or_not_and_its_secret_is_long_enough(well: Patient) -> None:
    assert well.examined(code=0)["dashboard"]["found"].startswith("not served; set SITEGLASS_DASHBOARD_SECRETS")
    well.environment |= {"SITEGLASS_DASHBOARD_SECRETS": "s" * 32, "SITEGLASS_PUBLIC_URL": "https://app.example.com/"}
    found = well.examined(code=0)["dashboard"]
    assert (found["state"], found["found"]) == ("ok", "https://app.example.com/dashboard")
    well.environment["SITEGLASS_DASHBOARD_SECRETS"] = "short"
    found = well.examined(code=1)["dashboard"]
    assert (found["state"], found["mend"]) == ("wrong", "set SITEGLASS_DASHBOARD_SECRETS")


def test_mail_that_is_not_taken(well: Patient) -> None:
    port = free_port()
    well.environment["SITEGLASS_MAIL_URL"] = f"smtp://user:hush@127.0.0.1:{port}"
    finding = well.examined(code=1)["mail"]
    assert finding["found"] == f"rejected: 127.0.0.1:{port}: ConnectionRefusedError"
    assert finding["mend"] == "start its server, or set SITEGLASS_MAIL_URL"
    well.environment["SITEGLASS_MAIL_URL"] = "user:hush@mail"
    finding = well.examined(code=1)["mail"]
    assert finding["found"].startswith("SITEGLASS_MAIL_URL: expected a URL such as smtp://user:password@host:587, ")
    assert "hush" not in str(finding)
    assert finding["mend"] == "set SITEGLASS_MAIL_URL; docs/guides/opt-out.md says how"


def test_a_port_that_another_program_has(well: Patient) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        well.environment["SITEGLASS_PORT"] = str(stranger.getsockname()[1])
        finding = well.examined(code=1)["port"]
    assert "Address already in use" in finding["found"]
    assert "set SITEGLASS_PORT to a free port" in finding["mend"]


def test_a_port_that_another_siteglass_has(new: Patient, client: httpx.Client) -> None:
    port = str(client.base_url.port)
    new.environment["SITEGLASS_PORT"] = port
    assert new.examined(code=1)["port"] == {
        "check": "port",
        "state": "wrong",
        "found": f"another Siteglass answers at http://127.0.0.1:{port}, with other settings",
        "mend": "stop it, or set SITEGLASS_PORT to a free port",
    }


def test_a_free_port_is_well(well: Patient) -> None:
    well.environment["SITEGLASS_PORT"] = str(free_port())
    assert well.examined(code=0)["port"]["found"].endswith("`siteglass serve` starts the service")


def test_a_demo_that_is_not_there(well: Patient) -> None:
    told = json.loads(well.bash("siteglass doctor --demo --json", code=1))
    assert (told["demo"], told["checks"][0]["mend"]) == (True, "run `make demo` or `siteglass demo up`")
