"""The operator's commands, run as the operator runs them."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from siteglass.settings import load_settings
from testing.accounts import drop_schema
from testing.ports import free_port
from testing.service import RUN_PREFIX, SECRET, make_test_account

PROGRAM = Path(sys.executable).parent / "siteglass"


class Cli:
    """Runs `siteglass` with an index prefix and a folder of the test's own."""

    def __init__(self, prefix: str, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            **os.environ,
            "SITEGLASS_INDEX_PREFIX": prefix,
            "SITEGLASS_LEAD_STORE": str(folder / "store"),
            "SITEGLASS_POSTGRES_SCHEMA": RUN_PREFIX,
            "SITEGLASS_SUPPRESSION_SECRET": SECRET,
            "COLUMNS": "200",
        }

    def __call__(self, *words: str, code: int = 0, of: int | None = None) -> str:
        """What a command that ends with this code says: on standard output (1) or standard error (2)."""
        done = subprocess.run(
            [str(PROGRAM), *words], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == code, (words, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        return (done.stdout if (of or (2 if code else 1)) == 1 else done.stderr).strip()


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    make_test_account(load_settings().postgres_dsn, RUN_PREFIX)
    return Cli(f"{RUN_PREFIX}-cli-{os.getpid()}-{tmp_path.name}", tmp_path)


def test_generations_from_create_to_drop(cli: Cli) -> None:
    assert cli("index", "status") == "No generation yet. Make one: siteglass index create"
    cli("demo", "generate", "--count", "300", "--seed", "4", "-o", "leads.ndjson")
    assert "siteglass index create" in cli("index", "load", "leads.ndjson", code=2)
    old = cli("index", "create", "--shards", "2", "--source", "demo 4")
    loaded = cli("index", "load", "leads.ndjson")
    assert loaded.startswith(
        "300 leads read; 300 written, 0 older than what was there, 0 suppressed, 0 too old, 0 failed; "
    )
    assert len(list((cli.folder / "store").glob("leads-*.parquet"))) == 1
    assert cli("index", "promote", old) == f"{old} is live"
    new = cli("index", "create")
    cli("index", "load", "leads.ndjson")
    assert cli("index", "promote", new) == f"{new} is live"
    listed = cli("index", "status").splitlines()
    assert [line.split()[0] for line in listed] == [old, new]
    assert ["300 leads" in line for line in listed] == [True, True]
    assert [line.endswith("live writes") for line in listed] == [False, True]
    assert f"{new} is live" in cli("index", "drop", new, code=2)
    assert cli("index", "drop", old) == f"{old} was dropped"
    assert "There is no generation nonsense" in cli("index", "promote", "nonsense", code=2)


def test_an_older_crawl_does_not_replace_a_newer_one(cli: Cli) -> None:
    cli("index", "create")
    line = '{"domain":"example.com","crawled_at_ms":%d,"title":"%s"}\n'
    for name, crawled, title in (("new", 2000, "new"), ("old", 1000, "old"), ("same", 2000, "better")):
        (cli.folder / f"{name}.ndjson").write_text(line % (crawled, title))
    assert "1 written, 0 older" in cli("index", "load", "new.ndjson")
    assert "0 written, 1 older" in cli("index", "load", "old.ndjson")
    assert "1 written, 0 older" in cli("index", "load", "same.ndjson")


def test_what_is_wrong_is_listed_and_the_rest_is_loaded(cli: Cli) -> None:
    cli("index", "create")
    (cli.folder / "wrong.ndjson").write_text(
        '{"domain":"example.com","crawled_at_ms":1,"country":"Germny"}\n{"domain":7,"crawled_at_ms":1}\n'
    )
    for _ in range(2):  # once more, the file is in the store already
        told = cli("index", "load", "wrong.ndjson", of=2).splitlines()[-1]
        (listed,) = (cli.folder / "store").glob("wrong-*.rejects.ndjson")
        assert told == f"2 values or lines were rejected and left out; see {listed}"
    line, country = map(json.loads, listed.read_text().splitlines())
    assert line == {
        "line": 2,
        "domain": "",
        "field": "",
        "value": "",
        "reason": "field domain: Expected `str`, got `int`",
        "nearest": None,
    }
    assert country == {
        "line": 1,
        "domain": "example.com",
        "field": "country",
        "value": "Germny",
        "reason": "not a known country",
        "nearest": "DEU",
    }
    rebuilt = cli("index", "rebuild", str(cli.folder / "store"), of=2)
    assert f"2 values or lines were rejected and left out; see {listed}" in rebuilt


def test_only_files_of_leads_get_into_the_store(cli: Cli) -> None:
    (cli.folder / "leads.csv").write_text("domain\nexample.com\n")
    assert "leads.csv: lead files must be named .ndjson or .jsonl or .parquet" in cli(
        "index", "load", "leads.csv", code=2
    )
    (cli.folder / "leads.parquet").write_text("no such file")
    assert cli("index", "load", "leads.parquet", code=2).startswith("siteglass: leads.parquet: not a Parquet file: ")
    assert list((cli.folder / "store").glob("*.parquet")) == []


AWAY = "postgresql://siteglass@127.0.0.1:9/x"


@pytest.mark.parametrize(
    ("changes", "words", "told"),
    [
        ({}, "serve", "SITEGLASS_CURSOR_SECRETS: at least one cursor secret"),
        ({"SITEGLASS_OPENSEARCH_URLS": "http://127.0.0.1:9"}, "index status", "`make up` starts the engines"),
        ({"SITEGLASS_OPENSEARCH_URLS": "http://127.0.0.1:9"}, "demo up --name NAME", "`make up` starts the engines"),
        ({"SITEGLASS_OPENSEARCH_URLS": ""}, "index status", "SITEGLASS_OPENSEARCH_URLS: expected URLs such as http://"),
        (
            {"SITEGLASS_OPENSEARCH_URLS": "127.0.0.1:9"},
            "index status",
            "SITEGLASS_OPENSEARCH_URLS: expected URLs such as",
        ),
        ({"SITEGLASS_INDEX_PREFIX": "Big"}, "index create", "OpenSearch refused: 400 invalid_index_name_exception"),
        ({"SITEGLASS_POSTGRES_DSN": AWAY, "SITEGLASS_POSTGRES_OWNER_DSN": AWAY}, "migrate", "`make up` starts"),
        ({"SITEGLASS_POSTGRES_DSN": AWAY}, "migrate", "SITEGLASS_POSTGRES_DSN name different databases: set both"),
        ({"SITEGLASS_POSTGRES_DSN": AWAY}, "account list", "`make up` starts"),
        (
            {"SITEGLASS_POSTGRES_DSN": "nonsense", "SITEGLASS_POSTGRES_OWNER_DSN": "nonsense"},
            "migrate",
            "Is SITEGLASS_POSTGRES_DSN right?",
        ),
        ({"SITEGLASS_POSTGRES_DSN": "nonsense"}, "account list", "Is SITEGLASS_POSTGRES_DSN right?"),
        (
            {"SITEGLASS_POSTGRES_SCHEMA": "Big One"},
            "migrate",
            "SITEGLASS_POSTGRES_SCHEMA: 'Big One' is not a valid schema name",
        ),
        (
            {"SITEGLASS_POSTGRES_SCHEMA": "Big One"},
            "account list",
            "SITEGLASS_POSTGRES_SCHEMA: 'Big One' is not a valid schema",
        ),
        (
            {"SITEGLASS_POSTGRES_SCHEMA": "none_such"},
            "account list",
            "run `siteglass migrate`. `siteglass doctor` shows",
        ),
        ({"SITEGLASS_LEAD_STORE": "/proc/store"}, "index load some.ndjson", "/proc/store: No such file or directory"),
        ({}, "index promote nonsense", "There is no generation nonsense. Existing generations: none"),
    ],
)
def test_a_mistake_is_told_in_one_line(cli: Cli, changes: dict[str, str], words: str, told: str) -> None:
    (cli.folder / "some.ndjson").write_text('{"domain":"example.com","crawled_at_ms":1}\n')
    cli.environment |= {"SITEGLASS_PORT": str(free_port()), **changes}
    *progress, message = cli(*words.replace("NAME", RUN_PREFIX).split(), code=2).splitlines()
    assert message.startswith("siteglass: ")
    assert told in message
    assert progress in ([], ["bringing the tables up to date"])


def test_serve_does_not_take_the_port_of_another(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        port = stranger.getsockname()[1]
        cli.environment |= {"SITEGLASS_CURSOR_SECRETS": SECRET, "SITEGLASS_KEY_SECRETS": SECRET}
        message = cli("serve", "--port", str(port), code=2)
    assert message == (
        f"siteglass: Cannot listen on 127.0.0.1:{port} (Address already in use). Stop the program that uses it, or "
        "set SITEGLASS_PORT to a free port."
    )
    assert "must be a number up to 65535" in cli("serve", "--port", "65536", code=2)


class Demo:
    """A demo in the test's folder, under its own names."""

    def __init__(self, cli: Cli) -> None:
        self._cli = cli
        self.names = [f"{RUN_PREFIX}_demo{os.getpid()}{letter}" for letter in "ab"]
        cli.environment["SITEGLASS_PORT"] = str(free_port())

    def up(self, *options: str) -> dict[str, str]:
        """What the last line says; it must be the only one on standard output."""
        started: dict[str, str] = json.loads(self._cli("demo", "up", *options))
        return started

    @staticmethod
    def statuses(started: dict[str, str]) -> dict[str, int]:
        """What a search with each key is answered."""
        return {
            kind: httpx.post(
                f"{started['base_url']}/v1/leads/search", json={}, headers={"X-API-Key": key}, trust_env=False
            ).status_code
            for kind, key in started.items()
            if kind.endswith("api_key")
        }

    @staticmethod
    def total(started: dict[str, str]) -> int:
        """How many leads a search finds."""
        headers = {"X-API-Key": started["api_key"]}
        answer = httpx.post(f"{started['base_url']}/v1/leads/search", json={}, headers=headers, trust_env=False)
        total: int = answer.json()["total_results"]
        return total


EVERY_STATUS = {
    "api_key": 200,
    "test_api_key": 200,
    "small_plan_api_key": 200,
    "no_credit_api_key": 402,
    "expired_api_key": 401,
    "revoked_api_key": 401,
}


@pytest.fixture
def demo(cli: Cli) -> Iterator[Demo]:
    demo = Demo(cli)
    yield demo
    cli("demo", "down")
    for name in demo.names:
        asyncio.run(drop_schema(load_settings().postgres_dsn, name))


def test_a_demo_with_keys_for_every_refusal(cli: Cli, demo: Demo) -> None:
    started = demo.up("--count", "300", "--name", demo.names[0])
    assert demo.statuses(started) == EVERY_STATUS
    for name in ("settings.json", "keys.json"):  # they contain secrets
        assert stat.filemode((cli.folder / "var/demo" / name).stat().st_mode) == "-rw-------"
    pid = (cli.folder / "var/demo/pid").read_text()
    assert demo.up() == started
    assert (cli.folder / "var/demo/pid").read_text() == pid
    exported = {**started, "siteglass_url": started["base_url"], "siteglass_api_key": started["api_key"]}
    assert cli("demo", "env").splitlines() == [f"export {name.upper()}={value}" for name, value in exported.items()]
    examined = cli("doctor").splitlines()
    assert examined[0] == "Looking at the demo in var/demo."
    assert examined[-2:] == [
        f"✓ demo           runs at {started['base_url']}, pid {pid}",
        "All is well.",
    ]
    for _ in range(2):
        cli("demo", "down")
    assert cli("demo", "env", code=2) == "siteglass: no demo is running in var/demo. Start it: siteglass demo up"
    with pytest.raises(httpx.ConnectError):
        demo.statuses(started)
    assert demo.up() == started
    assert demo.statuses(started) == EVERY_STATUS


def signed_in(link: str) -> httpx.Response:
    """The plan's page, which shows the balance, for who opens the link."""
    entered = httpx.get(link, trust_env=False)
    assert (entered.status_code, entered.headers["location"]) == (303, "/dashboard/explore")
    # By hand: httpx would not send a Secure cookie over http.
    cookies = "; ".join(one.partition(";")[0] for one in entered.headers.get_list("set-cookie"))
    plan = f"{link.partition('/dashboard')[0]}/dashboard/plan"
    return httpx.get(plan, headers={"Cookie": cookies}, trust_env=False)


def test_a_demo_prints_links_that_sign_in_to_an_account_with_few_credits(cli: Cli, demo: Demo) -> None:
    reported = cli("demo", "up", "--count", "100", "--name", demo.names[0], of=2)
    printed = re.search(r"^  (http://127\.0\.0\.1:\d+/dashboard/demo/[\w-]+)$", reported, re.MULTILINE)
    assert printed, reported
    page = signed_in(printed[1])
    assert page.status_code == 200
    assert "1,000" in page.text
    assert "trial" in page.text
    assert httpx.get(printed[1], trust_env=False).status_code == 410
    fresh = cli("demo", "link")
    assert signed_in(fresh).status_code == 200
    cli("demo", "down")
    assert cli("demo", "link", code=2) == "siteglass: no demo is running in var/demo. Start it: siteglass demo up"


def test_a_demo_that_stays_ends_with_its_service(cli: Cli, demo: Demo) -> None:
    words = [str(PROGRAM), "demo", "up", "--count", "100", "--name", demo.names[0], "--stay"]
    with subprocess.Popen(words, cwd=cli.folder, env=cli.environment, stdout=subprocess.PIPE, text=True) as staying:
        assert staying.stdout is not None
        started = json.loads(staying.stdout.readline())
        assert demo.statuses(started) == EVERY_STATUS
        assert staying.poll() is None
        staying.terminate()
        assert staying.wait(timeout=60) == 0
    with pytest.raises(httpx.ConnectError):
        demo.statuses(started)


@pytest.mark.nightly
def test_a_demo_of_another_size_or_name(demo: Demo) -> None:
    first = demo.up("--count", "300", "--name", demo.names[0])
    assert demo.up("--count", "200") == first
    assert demo.total(first) == 200
    second = demo.up("--count", "100", "--name", demo.names[1])
    assert second["api_key"] != first["api_key"]
    assert demo.statuses(second) == EVERY_STATUS
    assert demo.total(second) == 100


@pytest.mark.nightly
def test_a_demo_whose_data_was_lost(cli: Cli, demo: Demo) -> None:
    name = demo.names[0]
    lost = demo.up("--count", "100", "--name", name)
    settings = load_settings()
    asyncio.run(drop_schema(settings.postgres_dsn, name))
    httpx.delete(f"{settings.opensearch_urls[0]}/{name}-*", trust_env=False).raise_for_status()
    told = json.loads(cli("doctor", "--json", code=1, of=1))["checks"]
    assert [(f["check"], f["mend"]) for f in told if f["state"] == "wrong"] == [
        ("tables", "siteglass demo up"),
        ("leads", "siteglass demo up"),
    ]
    made = demo.up("--count", "100")
    assert made["api_key"] != lost["api_key"]
    assert demo.statuses(made) == EVERY_STATUS
    assert demo.total(made) == 100


def test_a_demo_does_not_take_another_service_for_its_own(cli: Cli, demo: Demo, client: httpx.Client) -> None:
    folder = cli.folder / "var/demo"
    folder.mkdir(parents=True)
    (folder / "pid").write_text(str(os.getpid()))  # ours once, someone else's now
    (folder / "keys.json").write_text("{}")
    cli.environment["SITEGLASS_PORT"] = str(client.base_url.port)
    assert "Stop the program that uses it, or set SITEGLASS_PORT" in cli("demo", "up", "--name", demo.names[0], code=2)
    assert cli("demo", "down") == ""
    assert client.get("/healthz").status_code == 200


def test_a_demo_is_named_as_the_engines_allow(cli: Cli) -> None:
    assert "use a lower-case letter, then lower-case letters, digits and _" in cli(
        "demo", "up", "--name", "My-Demo", code=2
    )
