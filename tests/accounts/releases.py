"""Another release of the service: this package with SQL files that a test can edit, run as its own command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import siteglass

PACKAGE = Path(siteglass.__file__).parent


@dataclass(frozen=True)
class Release:
    """A folder with the package, and the schema its commands work on."""

    folder: Path
    schema: str

    def file(self, name: str) -> Path:
        """The file of a money function."""
        return self.folder / "siteglass" / "billing" / "sql" / f"{name}.sql"

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace a piece of a function, which must be there."""
        text = self.file(name).read_text(encoding="utf-8")
        assert old in text
        self.file(name).write_text(text.replace(old, new), encoding="utf-8")

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run `siteglass` with these words."""
        return subprocess.run(
            [sys.executable, "-c", "from siteglass.cli.main import main; main()", *command],
            env={**os.environ, "PYTHONPATH": str(self.folder), "SITEGLASS_POSTGRES_SCHEMA": self.schema},
            cwd=self.folder,  # not beside a demo, whose settings would count
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def migrate(self) -> None:
        """Run `siteglass migrate`, which must succeed."""
        done = self.run("migrate")
        assert done.returncode == 0, done.stderr


def copy_release(folder: Path, schema: str) -> Release:
    """This release, ready to be edited: links to its modules, so that nothing is compiled again, and copies of SQL."""
    billing = folder / "siteglass" / "billing"
    _link_children(PACKAGE, billing.parent)
    billing.unlink()
    _link_children(PACKAGE / "billing", billing)
    (billing / "sql").unlink()
    shutil.copytree(PACKAGE / "billing" / "sql", billing / "sql")
    return Release(folder, schema)


def _link_children(source: Path, folder: Path) -> None:
    folder.mkdir()
    for child in source.iterdir():
        (folder / child.name).symlink_to(child)
