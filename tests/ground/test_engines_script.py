"""What `make up`, `down` and `status` promise. The first two tests look at the engines that all tests
use. The others have their own folder and ports, and no OpenSearch, which takes too long to start."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import engines

SCRIPT = Path(engines.__file__)
PORT_SETTINGS = (
    "SITEGLASS_OPENSEARCH_PORT",
    "SITEGLASS_OPENSEARCH_TRANSPORT_PORT",
    "SITEGLASS_POSTGRES_PORT",
    "SITEGLASS_REDIS_PORT",
)


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *words], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture
def own_engines(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, engines.Engine]]:
    # Not tmp_path: the users that the engines run as cannot get into root's temporary folders.
    folder = Path(tempfile.mkdtemp(prefix="siteglass-test-", dir="/var/tmp"))
    folder.chmod(0o755)
    monkeypatch.setenv("SITEGLASS_ENGINES_DIR", str(folder))
    with ExitStack() as sockets:
        for setting in PORT_SETTINGS:
            free = sockets.enter_context(socket.create_server(("127.0.0.1", 0)))
            monkeypatch.setenv(setting, str(free.getsockname()[1]))
    yield engines.engines()
    engines.down()
    shutil.rmtree(folder)


def test_status_names_three_engines_that_answer() -> None:
    status = command("status")
    assert status.returncode == 0, f"the engines must be up: run `make up`\n{status.stdout}{status.stderr}"
    assert re.findall(r"^(\w+) +answers, 127\.0\.0\.1:\d+, pid \d+$", status.stdout, re.MULTILINE) == [
        "opensearch",
        "postgres",
        "redis",
    ]


def test_up_a_second_time_changes_nothing() -> None:
    before = command("status").stdout
    again = command("up")
    assert again.returncode == 0, again.stderr
    assert again.stdout.count("already running") == 3
    assert command("status").stdout == before


@pytest.mark.parametrize("name", ["postgres", "redis"])
def test_an_engine_survives_stop_and_crash(own_engines: dict[str, engines.Engine], name: str) -> None:
    engine = own_engines[name]
    engine.start()
    first = engine.pid()
    engine.start()
    assert engine.pid() == first

    engine.kill()
    assert engine.pid() is None
    engine.start()
    assert engine.pid() not in (None, first)
    assert engine.answers()

    engine.stop()
    engine.stop()
    assert engine.pid() is None
    assert not engine.answers()


def test_a_port_taken_by_a_stranger_is_named(own_engines: dict[str, engines.Engine]) -> None:
    with ExitStack() as strangers:
        for engine in own_engines.values():
            strangers.enter_context(socket.create_server(("127.0.0.1", engine.port)))
        up = command("up")
    assert up.returncode == 1
    for engine in own_engines.values():
        assert f"port {engine.port}, meant for {engine.name}, is taken" in up.stderr
        assert f"set {engine.port_setting} to a free port" in up.stderr
        assert engine.pid() is None


def test_down_leaves_a_stranger_with_a_recycled_pid_alone(own_engines: dict[str, engines.Engine]) -> None:
    redis = own_engines["redis"]
    redis.folder.mkdir()
    redis.pid_file.write_text(str(os.getpid()))
    assert command("down").returncode == 0
    assert not redis.pid_file.exists()


def test_down_twice_and_status_of_nothing(own_engines: dict[str, engines.Engine]) -> None:
    assert [command("down").returncode for _ in range(2)] == [0, 0]
    status = command("status")
    assert status.returncode == 1
    assert status.stdout.count("stopped") == len(own_engines)


def test_a_port_must_be_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITEGLASS_REDIS_PORT", "many")
    status = command("status")
    assert status.returncode == 1
    assert status.stderr == "error: SITEGLASS_REDIS_PORT must be a port number, not 'many'\n"
