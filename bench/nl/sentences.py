"""The figures of sentences on one page: scores, probes, confidence, languages, words, time and memory.

    python -m bench.nl.sentences [--keep]

`--keep` writes bench/results/sentences.md. Times are processor time, the least of five runs, so that other processes on
the machine hardly change them. Of the set that stays closed nothing is read here.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator

from bench.common import RESULTS
from bench.nl.speed import percentile
from testing.sentences.crafted import crafted, least_times
from testing.sentences.generate import generate
from testing.sentences.honesty import OPEN_SETS, is_refused, measure_confidence, open_sentences, other_languages
from testing.sentences.meaning import atoms
from testing.sentences.probes import FAMILIES, is_reversed
from testing.sentences.score import SETS, read_set, score, service, unaccounted

GENERATED = 10_000
RUNS = 5

_MEMORY = """
import json
import psutil
def rss():
    return psutil.Process().memory_info().rss / 2**20
import orjson, rapidfuzz
steps, before = {}, rss()
def step(name, load):
    global before
    load()
    steps[name], before = rss() - before, rss()
from siteglass.query.vocabulary import vocabulary
step("vocabulary: places, technologies", vocabulary)
from siteglass.query.natural.lexicon import lexicon
step("phrases of eight languages", lexicon)
from siteglass.query.trades import trades
step("names of trades", lambda: trades().begins_form("a"))
from siteglass.query.natural.typos import load
step("candidates of misspelt words", load)
print(json.dumps(steps))
"""


_FITTED = """\
The rules, the margins of the confidence and the words of other languages were fitted to these sets, so new sentences
will score lower. The 10,000 generated sentences are in English, German, Spanish, French and Portuguese only."""
_WHY_SO_MUCH = """The tables are Python dictionaries, which each worker builds from the packaged files. Mapping
them from one file would share them, but every look-up would have to decode its row. So the target of 60 MiB is
missed."""


def _scores() -> Iterator[str]:
    yield "| set | sentences | exact | F1 | wrong sign |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for name in OPEN_SETS:
        whole = score(read_set(SETS / f"{name}.jsonl"), service).whole
        share = whole.exact / whole.sentences
        yield f"| `{name}` | {whole.sentences} | {share:.1%} | {whole.f1:.3f} | {whole.polarity} of {whole.wanted} |"


def _probes() -> Iterator[str]:
    yield "| probes | right | reversed |"
    yield "| --- | ---: | ---: |"
    for name, family in FAMILIES.items():
        read = [(atoms(service(probe.query)), atoms(probe.gold)) for probe in family()]
        right, turned = sum(found == wanted for found, wanted in read), sum(is_reversed(*one) for one in read)
        yield f"| {name} | {right} of {len(read)} | {turned} |"


def _honesty() -> Iterator[str]:
    rows = open_sentences()
    made = measure_confidence(rows)
    others = other_languages()
    drawn = [row.query for row in generate(GENERATED, seed=83)]
    queries = [row.query for row in rows] + drawn
    yield "| measured | figure |"
    yield "| --- | ---: |"
    yield f"| readings with a confidence of 0.95 or more | {made.reach:.1%} of {made.sentences} |"
    yield f"| of these, right | {made.right:.1%} |"
    yield f"| sentences in ten other languages that are refused | {sum(map(is_refused, others))} of {len(others)} |"
    yield f"| sentences in the eight languages that are refused | {sum(map(is_refused, queries))} of {len(queries):,} |"
    yield f"| words in no list of the interpretation, or in two | {sum(map(unaccounted, queries))} |"


def _times() -> Iterator[str]:
    times = sorted(least_times([row.query for row in open_sentences()], RUNS))
    hard = dict(crafted())
    worst = max(zip(least_times(hard.values(), RUNS), hard, strict=True))
    yield "| processor time of a sentence | ms |"
    yield "| --- | ---: |"
    yield f"| p50 | {percentile(times, 0.5):.2f} |"
    yield f"| p99 | {percentile(times, 0.99):.2f} |"
    yield f"| slowest of the sets | {times[-1]:.2f} |"
    yield f"| slowest of {len(hard)} crafted ones of 1,000 characters ({worst[1]}) | {worst[0]:.1f} |"


def _memory() -> Iterator[str]:
    made = subprocess.run([sys.executable, "-c", _MEMORY], capture_output=True, check=True)
    steps: dict[str, float] = json.loads(made.stdout)
    yield "| private memory of a worker | MiB |"
    yield "| --- | ---: |"
    for name, size in steps.items():
        yield f"| {name} | {size:.0f} |"
    yield f"| all tables | {sum(steps.values()):.0f} |"


def page() -> str:
    """The page, in Markdown."""
    parts = ["# Sentences, measured", "Written by `python -m bench.nl.sentences --keep`.", _FITTED]
    parts += ["\n".join(table()) for table in (_scores, _probes, _honesty, _times, _memory)]
    return "\n\n".join([*parts, _WHY_SO_MUCH]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help="write the page to bench/results")
    asked = parser.parse_args()
    made = page()
    print(made)
    if asked.keep:
        (RESULTS / "sentences.md").write_text(made)


if __name__ == "__main__":
    main()
