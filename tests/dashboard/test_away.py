"""PostgreSQL stopped or frozen: every page says so by its deadline, in words, and works again by itself."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from testing.dashboard.actions import words
from testing.dashboard.visitors import Office, Somebody, Visitor, office
from testing.outcomes import by_night
from testing.private_engines import PrivateEngines

pytestmark = [pytest.mark.alone, pytest.mark.xdist_group("private-engines")]

DEADLINE_MS = 1_000
SLACK_S = 1.5  # for a busy machine
PAGES = ("", "/usage", "/ledger", "/keys", "/people", "/plan", "/security", "/audit", "/usage.csv", "/ledger.csv")


@pytest.fixture(scope="module")
def private_office(private_engines: PrivateEngines, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """A service whose PostgreSQL may go."""
    port = private_engines.get("postgres").port
    with office(
        "dashboard-away",
        tmp_path_factory.mktemp("away"),
        postgres_dsn=f"postgresql://siteglass@127.0.0.1:{port}/siteglass",
        postgres_timeout_ms=DEADLINE_MS,
    ) as made:
        yield made


@pytest.fixture(scope="module")
def who(private_office: Office) -> Somebody:
    """Made while all is well."""
    return private_office.somebody()


@contextlib.contextmanager
def _away(private_engines: PrivateEngines, how: str) -> Iterator[None]:
    engine = private_engines.get("postgres")
    postmaster = psutil.Process(engine.pid())
    if how == "stopped":
        engine.stop()
        try:
            yield
        finally:
            private_engines.start("postgres")
        return
    family = [postmaster, *postmaster.children(recursive=True)]
    for process in family:
        process.suspend()
    try:
        yield
    finally:
        for process in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGCONT)


def _statuses(visitor: Visitor) -> list[int]:
    return [visitor.get(f"/dashboard{page}").status_code for page in PAGES]


@pytest.mark.parametrize("how", ["frozen", *by_night("stopped")])
def test_pages_say_so_in_time_and_work_again(
    private_office: Office, who: Somebody, private_engines: PrivateEngines, how: str
) -> None:
    visitor, nobody = private_office.visitor(who), private_office.visitor()
    nobody.get("/dashboard/sign-in")
    assert set(_statuses(visitor)) == {200}

    def ask(page: str) -> None:
        started = time.monotonic()
        answer = visitor.get(f"/dashboard{page}")
        took_s = time.monotonic() - started
        assert answer.status_code == 503, page
        assert took_s < DEADLINE_MS / 1000 + SLACK_S, page
        assert answer.headers["retry-after"] == "5"
        assert answer.headers["content-type"].startswith("text/html")
        assert "Temporarily unavailable" in words(answer)
        assert who.email not in answer.text

    def send() -> None:
        fields = {"email": who.email, "password": who.password}
        assert nobody.post("/dashboard/sign-in", fields).status_code == 503

    with _away(private_engines, how), ThreadPoolExecutor(4) as threads:
        sent = threads.submit(send)
        list(threads.map(ask, PAGES))
        sent.result()
    deadline = time.monotonic() + 20
    while set(_statuses(visitor)) != {200}:
        assert time.monotonic() < deadline, "it did not heal"
        time.sleep(0.2)
    nobody.sign_in(who)
