"""The command `doctor`: chooses the settings to check, and shows the findings."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import asdict, fields
from typing import TYPE_CHECKING

import click

from siteglass.cli.demo_state import FOLDER, kept_settings, running
from siteglass.settings import Settings, SettingsError, known_variables, load_settings, variables_given

if TYPE_CHECKING:
    from siteglass.cli.findings import Finding

MAKE_DEMO = "siteglass demo up"
MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "wrong": ("✗", "red"), "skipped": ("-", None)}
# Variables of scripts/engines.py, the tests and the client, which are not settings of the service.
OTHER_VARIABLES = {
    *(f"SITEGLASS_{engine}_PORT" for engine in ("OPENSEARCH", "OPENSEARCH_TRANSPORT", "POSTGRES", "REDIS")),
    "SITEGLASS_ENGINES_DIR",
    "SITEGLASS_LONG",
    "SITEGLASS_API_KEY",
    "SITEGLASS_URL",
}


@click.command()
@click.option(
    "--demo", "of_demo", is_flag=True, help="Check the demo in var/demo instead of the environment's settings."
)
@click.option("--production", is_flag=True, help="Also check TLS, passwords, backups and what else production needs.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def doctor(of_demo: bool, production: bool, as_json: bool) -> None:
    """Check the setup and show how to fix problems; exit code 1 if something must be fixed.

    Without secrets in the environment it looks at the demo in var/demo, where there is one.
    """
    findings: list[Finding] = []
    looks_at_demo = of_demo or (not production and _only_a_demo())

    async def look() -> None:
        async for finding in _findings(looks_at_demo, production):
            findings.append(finding)
            if not as_json:
                _tell(finding)

    if not as_json:
        click.echo(f"Looking at {f'the demo in {FOLDER}' if looks_at_demo else 'the settings of the environment'}.")
    asyncio.run(look())
    wrong, warnings = (sum(finding.state == state for finding in findings) for state in ("wrong", "warning"))
    if as_json:
        told = {"well": not wrong, "demo": looks_at_demo, "checks": [asdict(finding) for finding in findings]}
        click.echo(json.dumps(told, indent=2, ensure_ascii=False))
    else:
        click.echo(f"{wrong} to fix, {warnings} to consider." if wrong or warnings else "All is well.")
    sys.exit(1 if wrong else 0)


def _only_a_demo() -> bool:
    """Whether there is a demo here and the environment has no secrets, so that no other service can be meant."""
    try:
        settings = load_settings()
        return not (settings.cursor_secrets or settings.key_secrets) and kept_settings() is not None
    except SettingsError:
        return False  # reported by the first check


async def _findings(of_demo: bool, production: bool) -> AsyncIterator[Finding]:
    from siteglass.cli.doctor_checks import examine, skip_all
    from siteglass.cli.findings import Finding

    try:
        settings = _settings_to_look_at(of_demo)
    except SettingsError as error:
        found, _, mend = str(error).rstrip(".").partition(": ")
        yield Finding("wrong", found, mend, "settings")
        for finding in skip_all("settings"):
            yield finding
        return
    yield _settings_finding(of_demo)
    async for finding in examine(settings, MAKE_DEMO if of_demo else None, production=production):
        yield finding
    if (kept := kept_settings()) is not None:
        yield _demo_finding(kept)


def _settings_to_look_at(of_demo: bool) -> Settings:
    from siteglass.platform.backends import open_backends

    settings = kept_settings() if of_demo else load_settings()
    if settings is None:
        raise SettingsError(f"there is no demo in {FOLDER}: run `make demo` or `{MAKE_DEMO}`")
    open_backends(settings)  # a name that the engines cannot have is reported here
    return settings


def _settings_finding(of_demo: bool) -> Finding:
    from siteglass.cli.findings import Finding
    from siteglass.query.nearest import Candidates

    known = known_variables()
    given = [name for name in variables_given() if name not in OTHER_VARIABLES]
    if unknown := sorted(set(given) - set(known)):
        nearest = Candidates(known).nearest(unknown[0])
        mend = f"unset {unknown[0]}" + (f"; did you mean {nearest}?" if nearest else "")
        return Finding("warning", f"{unknown[0]} is not a setting and has no effect", mend, "settings")
    if twice := [name for name in given if f"{name}_FILE" in given]:
        return Finding(
            "warning",
            f"{twice[0]} and {twice[0]}_FILE are both set; the file is not read",
            f"unset {twice[0]}",
            "settings",
        )
    most = len(fields(Settings))
    found = f"those of {FOLDER}" if of_demo else f"{len(given)} of {most} are set; the others have their defaults"
    return Finding("ok", found, check="settings")


def _demo_finding(kept: Settings) -> Finding:
    from siteglass.cli.findings import Finding
    from siteglass.web.address import url

    pid = running()
    if pid is None:
        return Finding("ok", f"stopped; `{MAKE_DEMO}` starts it", check="demo")
    return Finding("ok", f"runs at {url(kept)}, pid {pid}", check="demo")


def _tell(finding: Finding) -> None:
    mark, colour = MARKS[finding.state]
    mend = f"  → {finding.mend}" if finding.mend else ""
    click.echo(f"{click.style(mark, fg=colour)} {finding.check:<15}{finding.found}{mend}")
