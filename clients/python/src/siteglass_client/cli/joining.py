"""Rows of a file with what is known of their domains beside them, as CSV, JSON lines or Parquet."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from siteglass_client.cli.domain_files import DomainFile
from siteglass_client.outputs import JsonLines, cell
from siteglass_client.parquet import write_table

FORMS = ("csv", "jsonl", "parquet")
PREFIX = "sg_"
"""Of the columns that are added, so that none takes the place of a column that was there."""
NUMBERS = frozenset({"spending"})


class Joined:
    """The rows of a file, each with the item of its domain; items are in a file of JSON lines, in the same order."""

    def __init__(self, file: DomainFile, items: Path, shown: Sequence[str]) -> None:
        self._file = file
        self._items = items
        self._fields = ["status", "message", "found_domain", *shown]
        names = _distinct([*file.heading, *(PREFIX + field for field in self._fields)])
        self._heading, self._added = names[: len(file.heading)], names[len(file.heading) :]

    def write(self, output: Path) -> None:
        """Write the file in the form that its name says; it is there whole or not at all."""
        form = output.suffix.lower()
        if form == ".parquet":
            fields = dict(zip(self._added, self._fields, strict=True))
            # Cells of the file stay text, whatever the column is called.
            columns = [*self._heading, *self._added]
            write_table(self._records(), output, columns, NUMBERS, lambda name: fields.get(name, ""))
            return
        unfinished = output.with_name(output.name + ".unfinished")
        if form == ".csv":
            self._write_csv(unfinished)
        else:
            self._write_lines(unfinished)
        os.replace(unfinished, output)

    def _rows(self) -> Iterator[tuple[list[str], dict[str, Any]]]:
        """Each row with what is known by field; nothing for a row without a domain or an item."""
        with self._items.open("rb") as lines:
            for row, domain in zip(self._file.rows, self._file.domains, strict=True):
                line = lines.readline() if domain else b""
                yield row, _flat(json.loads(line)) if line else {}

    def _records(self) -> Iterator[dict[str, Any]]:
        for row, known in self._rows():
            record: dict[str, Any] = dict(zip(self._heading, row, strict=True))
            for name, field in zip(self._added, self._fields, strict=True):
                if known.get(field) is not None:
                    record[name] = known[field]
            yield record

    def _write_lines(self, path: Path) -> None:
        form = JsonLines()
        with path.open("wb") as out:
            for record in self._records():
                out.write(form.spelled([record]))

    def _write_csv(self, path: Path) -> None:
        """The cells that were there stay as they are; those that are added cannot be run as a formula."""
        with path.open("w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out, lineterminator="\r\n")
            writer.writerow([*self._file.heading, *self._added])
            for row, known in self._rows():
                writer.writerow([*row, *(cell(known.get(field)) for field in self._fields)])


def _flat(item: Mapping[str, Any]) -> dict[str, Any]:
    data = dict(item.get("data", {}))
    return {"status": item["status"], "message": item.get("message"), "found_domain": data.pop("domain", None), **data}


def _distinct(names: Sequence[str]) -> list[str]:
    """Names of which none comes twice: a record would lose all but the last of them."""
    given: list[str] = []
    taken = set(names)
    for name in names:
        made, number = name, 1
        while made in given or (number > 1 and made in taken):
            number += 1
            made = f"{name}_{number}"
        given.append(made)
    return given
