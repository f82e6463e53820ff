"""`sg enrich`: what is known of the domains of a file, joined to its rows."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from siteglass_client.cli.domain_files import DomainFile, read_domains
from siteglass_client.cli.options import Saving, Session, common, saving, select_option
from siteglass_client.cli.saving import finished, form_of, make_room, resumable, stop_at_cap, tell_price
from siteglass_client.cli.terminal import counted, note, progress_of, say_json, show_table
from siteglass_client.outputs import JsonLines, cell
from siteglass_client.plans import COMPANY_COLUMNS
from siteglass_client.search import Enrichment

FORMS = ("csv", "jsonl")
PREFIX = "sg_"
"""Of the columns that are added, so that none takes the place of a column that was there."""


@click.command()
@common
@saving(".csv or .jsonl")
@click.argument("source", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--column", metavar="NAME", help="The column that holds domains or addresses of sites.")
@select_option
def enrich(session: Session, to: Saving, source: Path, column: str | None, select: list[str] | None) -> None:
    """Join what is known of domains to a file.

    The file is a table (CSV) or a plain list. All rows and columns stay, in their order; what is known is added in
    columns that start with sg_. A batch of 100 domains costs an API credit, each domain found a lead credit.
    """
    if to.output is not None:
        form_of(to.output, FORMS)
        if to.output.exists() and source.exists() and to.output.samefile(source):
            raise click.UsageError("-o must name another file than the one that is read.")
    file = read_domains(source, column)
    shown = list(COMPANY_COLUMNS) if select is None else [name for name in select if name != "domain"]
    with session.connect() as client:
        walk = client.enrich(
            [domain for domain in file.domains if domain],
            # The domain under which something is known may be another than that of the row.
            select=None if select is None else ["domain", *shown],
            max_credits=to.max_credits,
            resume=to.resume_path,
        )
        if to.dry_run:
            tell_price(session, walk.dry_run(), f"of {len(walk):,} domains found")
        elif to.output is not None:
            _write(session, to, walk, file, to.output, shown, client.account)
        else:
            with resumable(to, Path(), walk):
                _show(session, walk)
            stop_at_cap(to, walk.stopped)


def _write(
    session: Session,
    to: Saving,
    walk: Enrichment,
    file: DomainFile,
    output: Path,
    shown: list[str],
    check: Callable[[], object],
) -> None:
    """Items are gathered beside the output, which is there whole or not at all."""
    gathered = output.with_name(output.name + ".items.jsonl")
    make_room(to, gathered, check)
    with resumable(to, gathered, walk):
        note(f"Domains are taken from the column {file.heading[file.place]!r}.")
        with progress_of(walk, len(walk)) as bar:
            done = walk.to_jsonl(gathered, on_page=bar.step)
        added = [PREFIX + name for name in ("status", "message", "found_domain", *shown)]
        unfinished = output.with_name(output.name + ".unfinished")
        if output.suffix.lower() == ".csv":
            _write_csv(unfinished, file, gathered, added)
        else:
            _write_lines(unfinished, file, gathered, added)
        os.replace(unfinished, output)
    finished(session, to, replace(done, path=output, rows=len(file.rows)), gathered, "rows")


def _items(file: DomainFile, gathered: Path) -> Iterator[dict[str, Any]]:
    """What is known for each row, by the names of the added columns; empty for a row without a domain or an item."""
    with gathered.open("rb") as lines:
        for domain in file.domains:
            line = lines.readline() if domain else b""
            yield _flat(json.loads(line)) if line else {}


def _flat(item: Mapping[str, Any]) -> dict[str, Any]:
    data = dict(item.get("data", {}))
    flat = {"status": item["status"], "message": item.get("message"), "found_domain": data.pop("domain", None), **data}
    return {PREFIX + name: value for name, value in flat.items()}


def _write_csv(path: Path, file: DomainFile, gathered: Path, added: list[str]) -> None:
    """The cells that were there stay as they are; those that are added cannot be run as a formula."""
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\r\n")
        writer.writerow([*file.heading, *added])
        for row, item in zip(file.rows, _items(file, gathered), strict=True):
            writer.writerow([*row, *(cell(item.get(name)) for name in added)])


def _write_lines(path: Path, file: DomainFile, gathered: Path, added: list[str]) -> None:
    form = JsonLines()
    with path.open("wb") as out:
        for row, item in zip(file.rows, _items(file, gathered), strict=True):
            known = {name: item[name] for name in added if item.get(name) is not None}
            out.write(form.spelled([{**dict(zip(file.heading, row, strict=True)), **known}]))


def _show(session: Session, walk: Enrichment) -> None:
    if not session.for_people:
        for item in walk:
            say_json(item)
        return
    columns = ("title", "country", "emails")
    rows = [[item.domain, item.status, *(item.get("data", {}).get(name) for name in columns)] for item in walk]
    show_table(("domain", "status", *columns), rows)
    note(f"{counted(walk.credits_used, 'lead credit')}, {counted(walk.api_credits_used, 'API credit')}.")
