"""No step of the tables locks or breaks a running service: squawk reads all of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import deploy_tools
from engine_host import CHECKOUT
from siteglass.platform import migrations
from siteglass.platform.migrations.indexes import INDEXES

# They rewrite the ledger: one of a release before the first one, with the service stopped; the other while nothing was
# deployed, in one transaction that charges wait for.
NOT_IN_SERVICE = ("from_0008.sql", "ledger_months.sql")
STEPS = sorted(step for step in Path(migrations.__file__).parent.glob("*.sql") if step.name not in NOT_IN_SERVICE)


def _squawk(path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    configuration = CHECKOUT / "deploy/squawk.toml"
    return subprocess.run(
        [str(deploy_tools.tools() / "squawk"), "--config", str(configuration), *words, str(path)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.stem)
def test_a_step_can_run_while_the_release_before_serves(step: Path, tmp_path: Path) -> None:
    script = tmp_path / step.name
    script.write_text(step.read_text().replace("{schema}", "siteglass"))
    done = _squawk(script)
    assert done.returncode == 0, done.stdout + done.stderr


def test_indexes_of_existing_tables_are_built_concurrently(tmp_path: Path) -> None:
    script = tmp_path / "indexes.sql"
    script.write_text("".join(f"{index.statement('siteglass', 'CONCURRENTLY')};\n" for index in INDEXES))
    # Whether one is there already, `build_indexes` looks up itself.
    own = "prefer-robust-stmts,require-lock-timeout,require-statement-timeout"
    done = _squawk(script, "--no-assume-in-transaction", f"--exclude={own}")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("statement", "rule"),
    [
        ("ALTER TABLE siteglass.keys DROP COLUMN name;", "ban-drop-column"),
        ("CREATE INDEX slow ON siteglass.ledger (at);", "require-concurrent-index-creation"),
        ("ALTER TABLE siteglass.keys RENAME COLUMN name TO title;", "renaming-column"),
        ("ALTER TABLE siteglass.ledger ALTER COLUMN seq TYPE numeric;", "changing-column-type"),
        ("ALTER TABLE siteglass.keys ADD COLUMN note text NOT NULL;", "adding-required-field"),
        ("DROP TABLE siteglass.audit;", "ban-drop-table"),
    ],
)
def test_the_check_sees_what_is_wrong(statement: str, rule: str, tmp_path: Path) -> None:
    script = tmp_path / "wrong.sql"
    script.write_text(statement)
    done = _squawk(script, "--reporter", "gcc")
    assert (done.returncode, rule in done.stdout) == (1, True), done.stdout
