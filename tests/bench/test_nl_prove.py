"""A small size of `make long-nl`: what it measures, and the form that it is kept in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import common
from bench.nl import prove, speed
from testing.sentences.score import SETS, read_set

SUMS = {"sentences", "exact", "f1", "polarity_errors", "conditions"}


@pytest.mark.nightly
def test_the_result_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "RESULTS", tmp_path)
    quick = speed.measure(runs=1, fresh=1)
    monkeypatch.setattr(speed, "measure", lambda runs, fresh: quick)
    monkeypatch.setattr(prove, "read_set", lambda path: read_set(path)[:20])
    monkeypatch.setattr("sys.argv", ["prove", "--generated", "60", "--strings", "40", "--keep"])
    prove.main()
    text = (tmp_path / "natural.json").read_text()
    kept = json.loads(text)
    assert kept["command"] == "make long-nl"
    assert {"date", "seed", "machine"} < set(kept)
    assert kept["generated"]["all"].keys() == SUMS
    assert kept["generated"]["all"]["sentences"] == 60
    assert sum(sums["sentences"] for sums in kept["generated"]["languages"].values()) == 60
    assert kept["fuzz"]["strings"] == 40
    assert kept["speed"] == quick
    assert {"p50_ms", "p99_ms", "first_call_ms", "start_ms", "extra_rss_mib"} < set(quick)
    for name in ("dev", "locked"):
        assert kept[name]["score"]["all"].keys() == SUMS
        assert kept[name]["noise"]["total"].keys() == {"sentences", "clean", "noisy", "loss"}


@pytest.mark.nightly
def test_no_sentence_of_the_locked_set_is_kept() -> None:
    words = json.dumps(prove.labelled("locked"))
    queries = [json.loads(line)["query"] for line in (SETS / "locked.jsonl").read_text().splitlines()]
    assert not [query for query in queries if query in words]
