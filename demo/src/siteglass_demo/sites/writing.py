"""Writes made-up sites to archives, and their labels beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path

import msgspec

from siteglass_demo.sites.draw import draw_sites
from siteglass_demo.sites.label import Served, Site
from siteglass_demo.sites.serve import serve
from siteglass_demo.sites.warc import WarcWriter

LABELS = "labels.ndjson"
_MAX_FILES = 1_000


def write_warc(path: Path, sites: Iterable[Site], *, seed: int, corrupt_percent: float = 0) -> list[Site]:
    """All captures of the sites in one file; the labels, with `damaged` set."""
    return write_sites([path], sites, seed, corrupt_percent)


def write_folder(
    folder: Path,
    count: int,
    seed: int,
    *,
    files: int = 1,
    corrupt_percent: float = 0,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Site]:
    """`sites-*.warc.gz` and `labels.ndjson`. `on_progress` is called with the number of sites and captures done."""
    if not 1 <= files <= _MAX_FILES:
        raise ValueError(f"files is {files}: choose a number from 1 to {_MAX_FILES}")
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"sites-{number:04d}.warc.gz" for number in range(files)]
    labels = write_sites(paths, draw_sites(count, seed), seed, corrupt_percent, on_progress)
    encode = msgspec.json.Encoder().encode
    (folder / LABELS).write_bytes(b"".join(encode(site) + b"\n" for site in labels))
    return labels


def read_labels(path: Path) -> list[Site]:
    """The labels that `write_folder` wrote."""
    decode = msgspec.json.Decoder(Site).decode
    return [decode(line) for line in path.read_bytes().splitlines()]


def write_captures(path: Path, captures: Iterable[Served], seed: int) -> None:
    """Captures of any sites in one file."""
    with WarcWriter(path.open("wb"), path.name, seed) as writer:
        for served in captures:
            writer.add(served)


def write_sites(
    paths: list[Path],
    sites: Iterable[Site],
    seed: int,
    corrupt_percent: float = 0,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Site]:
    """The captures of the sites, spread over some files; the labels, with `damaged` set."""
    labels, captures = [], 0
    with ExitStack() as stack:
        writers = [stack.enter_context(WarcWriter(path.open("wb"), path.name, seed, corrupt_percent)) for path in paths]
        for site in sites:
            whole = True
            for number, served in enumerate(serve(site)):
                # Two pages here, the next two in the following file: a lead is found in several places.
                whole &= writers[(site.number + number // 2) % len(writers)].add(served)
                captures += 1
            labels.append(site if whole else msgspec.structs.replace(site, damaged=True))
            if on_progress:
                on_progress(len(labels), captures)
    return labels
