"""What a stranger gets wrong, and the one line that reports each mistake: what it is, and what to do next."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from siteglass.corpus.lead import Lead
from siteglass_client.cli.program import run
from testing.customers import Bank, Customer
from tests.client.commanding import SG, TIMEOUT_S, Desk

CHECK = "Check the URL (--url, SITEGLASS_URL or `sgl login`)"
Mistake = Callable[..., tuple[int, str]]


@pytest.fixture
def mistake(bank: Bank, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Mistake:
    """Runs `sgl` in this process, which saves starting one for each line; returns exit code and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("SITEGLASS_URL", bank.base_url)
    monkeypatch.setenv("SITEGLASS_API_KEY", bank.customer(api=10, lead=10).key)

    def made(*words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["sgl", *words])
        code = run()
        told = capfd.readouterr()
        assert told.out == ""
        return code, told.err.removeprefix("sgl: ").rstrip("\n")

    return made


def test_wrong_words(mistake: Mistake) -> None:
    assert mistake("search", "shops", "in", "Munich") == (
        2,
        "Got unexpected extra arguments (in Munich). Put words that belong together in quotes. See: sgl search --help",
    )
    assert mistake("search", "shops", "--limit", "3") == (
        2,
        "No such option '--limit'. Did you mean --max-leads? See: sgl search --help",
    )
    assert mistake("search", "shops", "--max-lead-credits", "ten") == (
        2,
        "Invalid value for '--max-lead-credits': 'ten' is not a whole number. See: sgl search --help",
    )
    assert mistake("enrich") == (
        2,
        "Missing argument 'SOURCE'. For example: sgl enrich crm.csv -o enriched.csv. See: sgl enrich --help",
    )
    assert mistake("values") == (
        2,
        "Missing argument 'FIELD'. For example: sgl values city mun. See: sgl values --help",
    )
    code, told = mistake("serach", "shops")
    assert (code, told.startswith("No such command 'serach'. (Did you mean one of: "), "?) See: " in told) == (
        2,
        True,
        True,
    )
    assert mistake("account", "--key", "my key") == (
        2,
        "The API key contains characters that no key has. Copy it again: it has 44 characters and starts with "
        "sg_live_ or sg_test_.",
    )


def test_wrong_files(mistake: Mistake, tmp_path: Path) -> None:
    assert mistake("enrich", "crm.csv") == (2, f"There is no file crm.csv in {tmp_path}. Check its name and folder.")
    (tmp_path / "folder").mkdir()
    assert mistake("enrich", "folder") == (2, "folder is a folder. Use a file that contains domains.")
    (tmp_path / "heading.csv").write_text("name,domain\n")
    assert mistake("enrich", "heading.csv") == (
        2,
        "heading.csv has a header but no rows: there is nothing to enrich.",
    )


def test_a_missing_package_costs_neither_credits_nor_the_file_that_is_there(
    mistake: Mistake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    (tmp_path / "leads.parquet").write_text("paid for")
    needed = (2, "This needs pyarrow. Install it in a checkout of Siteglass: pip install './clients/python[parquet]'.")
    assert mistake("search", "shops", "-o", "leads.parquet", "--overwrite") == needed
    assert (tmp_path / "leads.parquet").read_text() == "paid for"


def test_no_terminal_to_log_in_at(desk: Desk) -> None:
    del desk.environment["SITEGLASS_URL"]
    assert desk.refused(2, "login") == (
        "sgl: Service URL: nothing was given, and there is no terminal to ask on. Pass --url, and the key "
        "as a line on standard input; or set SITEGLASS_URL and SITEGLASS_API_KEY, which need no login."
    )


def test_a_home_that_cannot_be_used(mistake: Mistake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    instead = "Set XDG_CONFIG_HOME to another folder, or set SITEGLASS_URL and SITEGLASS_API_KEY, which need no file."
    url, key = os.environ["SITEGLASS_URL"], os.environ["SITEGLASS_API_KEY"]
    path = tmp_path / "file" / "siteglass" / "credentials"
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    assert mistake("login", "--url", url, "--key", key) == (2, f"{path} cannot be written: Not a directory. {instead}")
    monkeypatch.delenv("SITEGLASS_API_KEY")
    assert mistake("account") == (2, f"{path} cannot be read: Not a directory. {instead}")
    monkeypatch.delenv("XDG_CONFIG_HOME")

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    assert mistake("account") == (2, f"There is no home folder to store a key in. {instead}")


def test_streams_that_are_full_or_closed(desk: Desk) -> None:
    def shell(script: str, *words: str) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-c", script, "-", *SG, *words],
            cwd=desk.folder,
            env=desk.environment,
            stderr=subprocess.PIPE,
            text=True,
            timeout=TIMEOUT_S,
        )
        return done.returncode, done.stderr

    assert shell('"$@" > /dev/full', "account") == (
        2,
        "sgl: The output cannot be written: No space left on device. Fix that and run it again; with -o FILE a failed "
        "run can be resumed.\n",
    )
    assert shell('"$@" <&- >&-', "search", "--filter", "min_score=0", "--max-leads", "2", "-o", "leads.csv") == (
        0,
        "Businesses that have an SEO score of at least 0\n",
    )
    assert len((desk.folder / "leads.csv").read_text().splitlines()) == 3


def test_wrong_addresses(mistake: Mistake) -> None:
    code, told = mistake("account", "--url", "http://127.0.0.1:1")
    assert code == 5
    assert told == (
        "No response from http://127.0.0.1:1: nothing is listening there. Is the service running? (Connection "
        f"refused; 3 attempts) {CHECK}, then run the same command again."
    )
    code, told = mistake("login", "--url", "http://127.0.0.1:1", "--key", "sg_live_x")
    assert (code, told.startswith("No response from http://127.0.0.1:1: nothing is listening there.")) == (5, True)


def test_nothing_found_on_a_terminal(desk: Desk) -> None:
    code, shown = desk.on_terminal("search", "--filter", "country=ATA")
    assert (code, shown.strip()) == (
        0,
        "Businesses in Antarctica\r\nNo leads match. Run `sgl diagnose` with the same search to see why.",
    )


def test_a_full_disk(desk: Desk, customer: Customer, sold: list[Lead]) -> None:
    """A limit on the size of a file stands for it: a write fails in the middle, as it would there."""
    words = ("search", "--filter", "min_score=0", "--sort", "domain", "-o", "leads.jsonl")
    done = subprocess.run(
        ["bash", "-c", 'ulimit -f 200; exec "$@"', "-", *SG, *words],
        cwd=desk.folder,
        env=desk.environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert (done.returncode, done.stderr) == (
        2,
        "Businesses that have an SEO score of at least 0\n"
        "sgl: leads.jsonl: File too large. Free some space. Run the same command again to continue; nothing is "
        "paid twice.\n",
    )
    assert desk.run(*words).code == 0
    domains = [json.loads(line)["domain"] for line in (desk.folder / "leads.jsonl").read_text().splitlines()]
    assert domains == [lead.domain for lead in sold if lead.score is not None]
    payable = sum(bool(lead.emails) for lead in sold if lead.score is not None)
    assert customer.balance()[1] == 10_000 - payable
