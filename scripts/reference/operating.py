"""Pages for operators and callers: headers, settings, commands."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, get_args, get_type_hints

import click

from reference.markdown import code, paragraph, plain, table
from siteglass.cli.main import cli
from siteglass.openapi.headers import HEADERS
from siteglass.settings import Settings, file_variable, variable

HELP_WIDTH = 100
_TYPES = {int: "whole number", float: "number", str: "text"}


def headers_page() -> str:
    """Every header that we define, or that has a special meaning here."""
    rows = [
        [code(name), plain(header["description"]), code(str(header["example"]))] for name, header in HEADERS.items()
    ]
    return (
        "# Response headers\n\n"
        + paragraph(
            "Every response has `X-Request-Id`. Pages and enrichments that were charged have `X-Credits-*`. Responses "
            "to a key that may make the request, and opt-outs, have `RateLimit` and `RateLimit-Policy`. 429 and 503 "
            "have `Retry-After`. The first page of a search, its interpretation, its facets and its diagnosis have "
            "`X-Query-Notes`. Errors and pages of the ledger have `Link`, and 405 has `Allow`. What is deprecated has "
            "`Deprecation` and `Sunset`."
        )
        + table(["header", "meaning", "example"], rows)
    )


def settings_page() -> str:
    """Every environment variable."""
    hints = get_type_hints(Settings, include_extras=True)
    rows = []
    for setting in fields(Settings):
        kind, meaning = get_args(hints[setting.name])[:2]
        rows.append(
            [
                code(variable(setting.name)) + (" \\*" if "secret" in setting.metadata else ""),
                _TYPES.get(kind, _other_type(kind)),
                _default(setting.default),
                plain(meaning),
            ]
        )
    return (
        "# Settings\n\n"
        + paragraph(
            "Environment variables, read once at the start. Three secrets must be set before the service starts: "
            f"{code(variable('cursor_secrets'))}, {code(variable('key_secrets'))} and "
            f"{code(variable('suppression_secret'))}. The dashboard needs {code(variable('dashboard_secrets'))}, too."
        )
        + paragraph(
            "Secrets, and addresses that may hold a password, can also come from files: "
            f"{code(file_variable('key_secrets'))} names the file whose content is the value of "
            f"{code(variable('key_secrets'))}. Below, an asterisk marks the variables that have such a file. A "
            "variable that is set comes before its file."
        )
        + table(["variable", "type", "default", "meaning"], rows)
    )


def _other_type(kind: Any) -> str:
    return "list, comma-separated" if get_args(kind) else "path"


def _default(value: Any) -> str:
    if value is MISSING or value in ((), ""):
        return "none"
    return code(",".join(value) if isinstance(value, tuple) else str(value))


def commands_page() -> str:
    """The help of every command."""
    parts = ["# Commands\n\nThe output of `--help` for each command of `siteglass`.\n"]
    for path, help_text in _helps(cli, "siteglass", None):
        parts.append(f"## {path}\n\n<!-- not run: the command's own help -->\n```text\n{help_text}\n```\n")
    return "\n".join(parts)


def _helps(command: click.Command, name: str, parent: click.Context | None) -> list[tuple[str, str]]:
    context = click.Context(
        command, info_name=name, parent=parent, terminal_width=HELP_WIDTH, **command.context_settings
    )
    found = [(context.command_path, "\n".join(line.rstrip() for line in command.get_help(context).splitlines()))]
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found += _helps(command.commands[below], below, context)
    return found
