"""Secrets of the settings are shown nowhere: not by commands, not in errors, not in log lines, not by `repr`.

Every setting that may hold a secret holds the same marker; what is written must not.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from siteglass.settings import Settings, SettingsError, environment_of, host_and_port, load_settings, variable
from testing.outcomes import first_by_day
from testing.ports import free_port
from testing.service import RUN_PREFIX, make_test_account, settings_for

PROGRAM = Path(sys.executable).parent / "siteglass"
MARKER = "Marker7x"
LONG = f"{MARKER} and so many more that it is long enough"
SECRET_NAME = re.compile("secret|dsn|url|key|password")
# Look like secrets, but are none: links in mails begin with the first, the others are paths of files.
PUBLIC = {"public_url", "opensearch_key", "postgres_key", "redis_key"}


def _with_password(address: str, user: str) -> str:
    parts = urlsplit(address)
    return parts._replace(netloc=f"{user}:{MARKER}@{parts.netloc.rpartition('@')[2]}").geturl()


def _marked(settings: Settings) -> Settings:
    """The same settings with a marker in all that may hold a secret; engines of tests take any password."""
    return replace(
        settings,
        cursor_secrets=(LONG,),
        key_secrets=(LONG + " too",),
        suppression_secret=LONG,
        dashboard_secrets=(LONG,),
        opensearch_urls=tuple(_with_password(url, "admin") for url in settings.opensearch_urls),
        postgres_dsn=_with_password(settings.postgres_dsn, "siteglass"),
        postgres_owner_dsn=_with_password(settings.postgres_owner_dsn, "siteglass_owner"),
        crawl_dsn=_with_password(settings.crawl_dsn, "siteglass_crawl"),
        redis_url=_with_password(settings.redis_url, "default"),
        mail_url=f"smtp://user:{MARKER}@127.0.0.1:{free_port()}",
        mail_from="privacy@example.com",
        language_model_url=f"http://user:{MARKER}@127.0.0.1:{free_port()}/v1",
        language_model_name="model",
        language_model_key=MARKER,
        s3_access_key=MARKER,
        s3_secret_key=MARKER,
    )


class Shell:
    """Runs commands with marked settings, and looks through everything they write."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.folder = folder
        others = {name: value for name, value in os.environ.items() if not name.startswith("SITEGLASS_")}
        self.environment = {**others, **environment_of(settings)}

    def __call__(self, *words: str, codes: tuple[int, ...] = (0,)) -> str:
        """What a command writes; it must not hold the marker, nor be the trace of a fault."""
        done = subprocess.run(
            [str(PROGRAM), *words], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=120
        )
        written = done.stdout + done.stderr
        assert done.returncode in codes, (words, written)
        assert MARKER.lower() not in written.lower(), words
        assert "Traceback" not in written, words
        return written


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "store").mkdir()
    plain = settings_for("hush", lead_store=tmp_path / "store", port=free_port())
    make_test_account(plain.postgres_dsn, plain.postgres_schema)
    return _marked(replace(plain, index_prefix=f"{RUN_PREFIX}-hush-{os.getpid()}-{tmp_path.name}"))


@pytest.fixture
def shell(settings: Settings, tmp_path: Path) -> Shell:
    return Shell(settings, tmp_path)


def _away(settings: Settings) -> Settings:
    """No engine answers."""
    port = free_port()
    dsn = f"postgresql://siteglass:{MARKER}@127.0.0.1:{port}/siteglass?password={MARKER}"
    return replace(
        settings,
        opensearch_urls=(f"http://admin:{MARKER}@127.0.0.1:{port}", f"http://{MARKER}@127.0.0.1:{port}"),
        postgres_dsn=dsn,
        postgres_owner_dsn=dsn,
        redis_url=f"redis://:{MARKER}@127.0.0.1:{port}/0?password={MARKER}",
    )


COMMANDS = ("doctor", "doctor --json", "index status", "account list", "migrate", "suppress list", "demo up --name x")


def test_commands_with_engines_that_answer(shell: Shell) -> None:
    # A copy that finds no second node: the doctor says how to ask OpenSearch about it.
    name = shell("index", "create", "--replicas", "1").strip()
    shell("index", "promote", name, "--force", "--reason", "test", "--accept-yellow", "there is one node")
    told = shell("doctor", codes=(1,))
    assert "curl -u USER 'http://127.0.0.1:" in told
    assert "✓ postgresql" in told
    assert "✓ redis" in told
    assert "✓ opensearch" in told
    for words in ("doctor --json", "index status", "account list", "suppress list"):
        shell(*words.split(), codes=(0, 1))


@pytest.mark.parametrize("words", first_by_day(COMMANDS))
def test_commands_without_engines(settings: Settings, tmp_path: Path, words: str) -> None:
    Shell(_away(settings), tmp_path)(*words.split(), codes=(1, 2))


# Passwords as people paste them: a character that is not escaped in an address cuts the password in two.
PASTED = [f"pa/{MARKER}", f"{MARKER}/12", f"12/{MARKER}", f"pa#{MARKER}", f"pa?{MARKER}", f"{MARKER}@{MARKER}:{MARKER}"]


@pytest.mark.parametrize("password", [*PASTED, f"[{MARKER}"])
def test_an_address_that_cannot_be_read_is_not_quoted(password: str) -> None:
    for setting in ("postgres_dsn", "postgres_owner_dsn", "redis_url", "opensearch_urls", "mail_url"):
        with pytest.raises(SettingsError, match="percent-encoded") as refused:
            load_settings({variable(setting): f"smtp://user:{password}@host:1"})
        assert str(refused.value).startswith(
            f"{variable(setting)}: expected a URL such as scheme://user:password@host:port, "
        )
        assert MARKER not in str(refused.value)


@pytest.mark.parametrize("setting", ["postgres_dsn", "redis_url", "opensearch_urls"])
def test_commands_with_an_address_that_cannot_be_read(shell: Shell, setting: str) -> None:
    value = shell.environment[variable(setting)]
    shell.environment[variable(setting)] = value.replace(f":{MARKER}@", f":{MARKER}/pa@")
    assert f"✗ settings       {variable(setting)}" in shell("doctor", codes=(1,))
    for words in ("serve", "account list"):
        assert shell(*words.split(), codes=(2,)).startswith(f"siteglass: {variable(setting)}: expected a URL such as ")


@pytest.mark.parametrize("setting", ["cursor_secrets", "key_secrets", "suppression_secret", "dashboard_secrets"])
def test_secrets_that_are_too_short(shell: Shell, setting: str) -> None:
    shell.environment[variable(setting)] = MARKER
    shell("doctor", codes=(1,))
    shell("serve", codes=(2,))


@pytest.fixture(params=["engines", "no engines"])
def log_of(
    request: pytest.FixtureRequest, settings: Settings, tmp_path: Path
) -> Iterator[tuple[httpx.Client, Path, int]]:
    """The service as the operator starts it, and the file of its log, with every level written."""
    given = replace(
        settings if request.param == "engines" else _away(settings), log_level="DEBUG", metrics_port=free_port()
    )
    log = tmp_path / "service.log"
    with log.open("wb") as file:
        service = subprocess.Popen(
            [str(PROGRAM), "serve"], cwd=tmp_path, env=Shell(given, tmp_path).environment, stdout=file, stderr=file
        )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{given.port}", trust_env=False, timeout=20) as client:
            for _ in range(200):
                try:
                    client.get("/healthz")
                    break
                except httpx.ConnectError:
                    time.sleep(0.1)
            yield client, log, given.metrics_port
    finally:
        service.terminate()
        service.wait(timeout=30)


def test_log_lines_and_answers_of_the_service(log_of: tuple[httpx.Client, Path, int]) -> None:
    client, log, metrics_port = log_of
    key = {"X-API-Key": "sg_live_" + "0" * 36}
    answers = [
        client.get("/readyz"),
        client.get(f"http://127.0.0.1:{metrics_port}/metrics"),
        client.post("/v1/leads/search", json={"query": "shops in Berlin"}, headers=key),
        client.post("/v1/leads/interpret", json={"query": "shops in Berlin"}, headers=key),
        client.post("/v1/opt-out", json={"email": "jane@example.com"}),
        client.get("/dashboard"),
        client.post("/dashboard/sign-in", data={"email": "jane@example.com", "password": "x" * 20}),
    ]
    time.sleep(1.5)  # the jobs that run beside requests have had their first turn
    written = log.read_text()
    assert "Uvicorn running" in written
    assert MARKER.lower() not in written.lower()
    for answer in answers:
        assert MARKER.lower() not in (answer.text + str(answer.headers)).lower(), answer.url


def test_repr_shows_no_secret(settings: Settings) -> None:
    marked = [setting.name for setting in fields(Settings) if MARKER in str(getattr(settings, setting.name))]
    assert set(marked) == {name for name in _secret_looking() if name not in PUBLIC}
    assert MARKER not in repr(settings)
    assert MARKER not in str(settings)
    assert MARKER not in repr(replace(settings, root_keys=(MARKER,)))


def _secret_looking() -> list[str]:
    """Those that a text can be put into: keys of roots are hexadecimal digits."""
    return [
        setting.name for setting in fields(Settings) if SECRET_NAME.search(setting.name) and setting.name != "root_keys"
    ]


def test_a_setting_that_looks_like_a_secret_is_marked_as_one() -> None:
    shown = {setting.name for setting in fields(Settings) if setting.repr}
    assert {name for name in _secret_looking() if name in shown} == PUBLIC


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (f"postgresql://user:{MARKER}@db.example:5432/name?password={MARKER}", "db.example:5432"),
        (f"postgresql://{MARKER}@one:1,two:2/name", "one:1,two:2"),
        (f"https://user:{MARKER}@[::1]:9200/{MARKER}", "[::1]:9200"),
        (f"postgresql:///name?host=/run&password={MARKER}", "the configured address"),
        (f"user:{MARKER}@host", "the configured address"),
        (MARKER, "the configured address"),
        *((f"redis://user:{password}@host:1", "the configured address") for password in PASTED),
        (f"redis://host:{MARKER}", "the configured address"),
        (f"redis://[{MARKER}@host", "the configured address"),
    ],
)
def test_of_an_address_only_its_host_is_shown(address: str, shown: str) -> None:
    assert host_and_port(address) == shown


@pytest.mark.parametrize(
    "address", ["postgresql:///name?host=/run", "postgresql://a:p%40%2F@h1:1,h2/x?sslmode=require", "nonsense", ""]
)
def test_addresses_that_a_driver_reads_are_left_to_it(address: str) -> None:
    assert load_settings({"SITEGLASS_POSTGRES_DSN": address}).postgres_dsn == address
    with pytest.raises(SettingsError, match="SITEGLASS_POSTGRES_DSN: expected a URL such as scheme://"):
        load_settings({"SITEGLASS_POSTGRES_DSN": "postgresql://a:b@c@host/x"})
