"""Options that several commands have, and the values they take."""

from __future__ import annotations

import functools
import typing
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from siteglass_client.calls import with_lists
from siteglass_client.cli.credentials import Credentials, chosen
from siteglass_client.cli.refusals import refused, unreached
from siteglass_client.cli.terminal import for_people
from siteglass_client.client import Siteglass
from siteglass_client.errors import ConnectionFailed, ServiceError
from siteglass_client.filters import Filters

YES_NO = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}

Command = Callable[..., Any]


@dataclass(frozen=True, repr=False)
class Session:
    """What the common options say."""

    url: str | None
    key: str | None
    as_json: bool
    deadline_s: float

    @functools.cached_property
    def used(self) -> Credentials:
        """The address and the key that are used."""
        return chosen(self.url, self.key)

    def connect(self) -> Siteglass:
        """A client of the service."""
        return Siteglass(self.used.key, self.used.url, deadline_s=self.deadline_s)

    @contextmanager
    def in_words(self) -> Iterator[None]:
        """Errors of the service name its address and where the key came from."""
        try:
            yield
        except ServiceError as error:
            raise refused(error, self.used.url, self.used.key_from) from None
        except ConnectionFailed as error:
            raise unreached(error, self.used.url) from None

    @property
    def for_people(self) -> bool:
        return for_people(self.as_json)


def common(command: Command) -> Command:
    """Adds the options of every command that asks the service; they come as its first argument."""

    @click.option("--url", metavar="URL", help="Service URL; defaults to SITEGLASS_URL, then to that of `sgl login`.")
    @click.option("--key", metavar="KEY", help="API key; defaults to SITEGLASS_API_KEY, then to that of `sgl login`.")
    @click.option("--json", "as_json", is_flag=True, help="Print JSON even on a terminal.")
    @click.option(
        "--deadline",
        "deadline_s",
        type=click.FloatRange(1, 3600),
        default=120.0,
        show_default=True,
        help="Maximum seconds for a call, including retries.",
    )
    @functools.wraps(command)
    def with_session(url: str | None, key: str | None, as_json: bool, deadline_s: float, **rest: Any) -> Any:
        session = Session(url, key, as_json, deadline_s)
        with session.in_words():
            return command(session, **rest)

    return with_session


@dataclass(frozen=True)
class Saving:
    """Where a walk goes, and how far."""

    output: Path | None
    resume: Path | None
    overwrite: bool
    max_lead_credits: int | None
    dry_run: bool
    ask_above: int | None
    yes: bool

    @property
    def resume_path(self) -> Path | None:
        """The resume file; beside the output if none is named."""
        if self.resume is not None or self.output is None:
            return self.resume
        return self.output.with_name(self.output.name + ".resume")


def saving(forms: str) -> Callable[[Command], Command]:
    """Adds the options of a command that pays and writes."""

    def added(command: Command) -> Command:
        file = click.Path(dir_okay=False, path_type=Path)

        @click.option("-o", "--output", type=file, metavar="FILE", help=f"Output file: a name that ends in {forms}.")
        @click.option(
            "--resume", type=file, metavar="FILE", help="The resume file; defaults to FILE.resume next to the output."
        )
        @click.option("--overwrite", is_flag=True, help="Start again, and replace the file of an earlier run.")
        @click.option("--max-lead-credits", type=click.IntRange(0), metavar="N", help="Spend at most N lead credits.")
        @click.option("--dry-run", is_flag=True, help="Only show the price.")
        @click.option(
            "--ask-above",
            type=click.IntRange(0),
            envvar="SITEGLASS_ASK_ABOVE",
            metavar="N",
            help="On a terminal, ask before spending more than N lead credits; or set SITEGLASS_ASK_ABOVE. Without it, "
            "`sgl` asks before it buys more than one page.",
        )
        @click.option("--yes", is_flag=True, help="Spend without asking, also if the search may have been misread.")
        @functools.wraps(command)
        def with_saving(
            *first: Any,
            output: Path | None,
            resume: Path | None,
            overwrite: bool,
            max_lead_credits: int | None,
            dry_run: bool,
            ask_above: int | None,
            yes: bool,
            **rest: Any,
        ) -> Any:
            if resume is not None and output is None:
                raise click.UsageError("--resume needs -o FILE, the file to continue.")
            return command(*first, Saving(output, resume, overwrite, max_lead_credits, dry_run, ask_above, yes), **rest)

        return with_saving

    return added


def search_options(command: Command) -> Command:
    """Adds what says which leads are meant; they come as `query`, `filters`, `wrapped_query`,
    `require` and `strict`."""

    @click.argument("query", required=False)
    @click.option(
        "--filter",
        "filters",
        multiple=True,
        metavar="NAME=VALUE",
        shell_complete=_complete_filter,
        help="A filter, such as country=DEU; repeat for more. Separate the values of a list with commas.",
    )
    @click.option(
        "--wrapped-query", metavar="TEXT", help="Lines such as @country(DEU) or @any[ @not_secure | @lacks(crm) ]."
    )
    @click.option(
        "--require",
        multiple=True,
        metavar="WORDS",
        help="Words of the sentence that the text of the sites must contain; repeat for more.",
    )
    @click.option(
        "--exclude-list",
        "exclude_lists",
        multiple=True,
        metavar="NAME",
        help="Leave out leads on this list; repeat for more. The list paid has what the account has paid for.",
    )
    @click.option(
        "--only-list", "only_lists", multiple=True, metavar="NAME", help="Only leads on this list; repeat for more."
    )
    @click.option("--strict", is_flag=True, help="Refuse a sentence that was not clearly understood.")
    @functools.wraps(command)
    def with_search(
        *first: Any,
        query: str | None,
        filters: Sequence[str],
        wrapped_query: str | None,
        exclude_lists: Sequence[str],
        only_lists: Sequence[str],
        **rest: Any,
    ) -> Any:
        if not (query and query.strip()) and not filters and not wrapped_query and not only_lists:
            # The service would take it for all leads there are, and that is seldom what somebody wants to pay for.
            raise click.UsageError("Say what to search for: a sentence in quotes, --filter or --wrapped-query.")
        wanted = with_lists(read_filters(filters), exclude_lists, only_lists)
        return command(*first, query=query, filters=wanted, wrapped_query=wrapped_query, **rest)

    return with_search


def _complete_filter(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    return [CompletionItem(f"{name}=") for name in typing.get_type_hints(Filters) if name.startswith(typed)]


def read_filters(given: Sequence[str]) -> dict[str, Any]:
    """NAME=VALUE as the service takes it; a name that is not known here is left for the service to judge."""
    kinds = typing.get_type_hints(Filters)
    filters: dict[str, Any] = {}
    for text in given:
        name, equals, value = (each.strip() for each in text.partition("="))
        if not equals or not name:
            raise click.UsageError(f"--filter takes NAME=VALUE, such as country=DEU, but is {text!r}.")
        kind = kinds.get(name, str)
        if kind not in (str, int, bool):
            filters.setdefault(name, []).extend(each.strip() for each in value.split(",") if each.strip())
        elif name in filters:
            raise click.UsageError(f"--filter {name} is given twice, but takes one value.")
        elif kind is bool:
            if value.lower() not in YES_NO:
                raise click.UsageError(f"--filter {name} takes true or false, but is {value!r}.")
            filters[name] = YES_NO[value.lower()]
        elif kind is int:
            if not value.isascii() or not value.isdigit():
                raise click.UsageError(f"--filter {name} takes a whole number, but is {value!r}.")
            filters[name] = int(value)
        else:
            filters[name] = value
    return filters


def read_select(context: click.Context, parameter: click.Parameter, given: Sequence[str]) -> list[str] | None:
    """Names separated by commas, from one option or several."""
    names = [name.strip() for text in given for name in text.split(",") if name.strip()]
    return list(dict.fromkeys(names)) or None


select_option = click.option(
    "--select", multiple=True, metavar="NAMES", callback=read_select, help="Only these fields, comma-separated."
)
