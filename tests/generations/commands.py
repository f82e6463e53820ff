"""`siteglass index …` on an index of the test's own, and what its status says."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from click.testing import CliRunner

from siteglass.cli.main import cli
from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import write_parquet
from siteglass.index import generations
from siteglass.index.administration import admin
from siteglass.index.generations import Generation, GenerationError
from siteglass.index.index import Index as LiveIndex
from siteglass.settings import Settings, environment_of
from testing.service import make_test_account, run, settings_for

PROGRAM = Path(sys.executable).parent / "siteglass"


class Index:
    """The generations under one prefix, and a folder for files."""

    def __init__(self, prefix: str, folder: Path) -> None:
        self.folder = folder
        self._files = 0
        # Workers that share a run must not share what these tests promote and drop.
        self.use(settings_for(f"{prefix}-{os.getpid()}", lead_store=folder / "store"))

    def use(self, settings: Settings) -> None:
        """Run commands with these settings from now on."""
        self.settings = settings
        make_test_account(self.settings.postgres_dsn, self.settings.postgres_schema)  # loaders ask the list of opt-outs
        self._environment = {**environment_of(self.settings), "COLUMNS": "200"}

    def __call__(self, *words: str, code: int = 0) -> str:
        """The output of a command that ends with this code; with 2, the one line that reports a mistake."""
        result = CliRunner().invoke(cli, ["index", *words], env=self._environment)
        if isinstance(result.exception, GenerationError) and code == 2:
            return str(result.exception)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        return result.output

    def start(self, *words: str) -> subprocess.Popen[str]:
        """A command as a separate process."""
        return subprocess.Popen(
            [str(PROGRAM), "index", *words],
            env={**os.environ, **self._environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def file(self, leads: Iterable[Lead]) -> str:
        """The path of a new file with these leads."""
        self._files += 1
        path = self.folder / f"leads-{self._files}.parquet"
        write_parquet(path, leads)
        return str(path)

    def built(self, leads: Iterable[Lead], *options: str) -> str:
        """The name of a generation that a rebuild without verification made of these leads."""
        words = ("--no-verify", "--reason", "the test says so", *options)
        lines = self("rebuild", self.file(leads), *words).splitlines()
        return next(line.split()[0] for line in lines if line.endswith((" is built", " is live")))

    def all(self) -> list[Generation]:
        """Every generation, oldest first."""
        return run(self.settings, generations.status)

    def live(self) -> str:
        """The name of the live one."""
        (name,) = (generation.name for generation in self.all() if generation.live)
        return name

    def engine(self, method: str, path: str, body: object = None) -> object:
        """Ask OpenSearch itself."""

        async def action(live_index: LiveIndex) -> object:
            return await admin(live_index, method, path, body)

        return run(self.settings, action)


def refusals(told: str) -> list[str]:
    """The lines of a report that say why, without the first word."""
    return [line.removeprefix("REFUSED").strip() for line in told.splitlines() if line.startswith("REFUSED")]
