"""A run into a file: what prevents it, how it resumes after an interruption, what is removed at the end."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click

from siteglass_client.answers import Quote
from siteglass_client.calls import MAX_LIMIT
from siteglass_client.cli.failures import DOUBTFUL, INTERRUPTED, NO_CREDITS, WRONG_INPUT, Failure
from siteglass_client.cli.options import Saving, Session
from siteglass_client.cli.terminal import Told, counted, note, say_json
from siteglass_client.errors import (
    BadRequest,
    Forbidden,
    NotFound,
    PaymentRequired,
    ResumeError,
    SiteglassError,
    Unauthorized,
)
from siteglass_client.messages import Reading
from siteglass_client.parquet import load_package
from siteglass_client.runs import Export

WORKBOOKS = ("xlsx", "xls", "ods")
# Errors that end when somebody frees space; the run itself can continue.
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
GO_ON = "Run the same command again to continue; nothing is paid twice."


def form_of(output: Path, forms: Sequence[str]) -> str:
    """The form that the name of a file asks for."""
    form = output.suffix.lower().lstrip(".")
    known = ", ".join(f".{each}" for each in forms)
    if str(output) == "-":
        raise Failure("Without -o, everything already goes to the pipe as JSON lines. Omit -o.", WRONG_INPUT)
    if form in WORKBOOKS:
        raise Failure(
            f"{output}: workbooks are not supported. Use a name that ends in .csv, which spreadsheets can open.",
            WRONG_INPUT,
        )
    if form not in forms:
        raise Failure(f"{output}: the extension sets the format, and must be one of {known}.", WRONG_INPUT)
    if not output.parent.is_dir():
        raise Failure(f"There is no folder {output.parent}. Create it, or choose another.", WRONG_INPUT)
    if form == "parquet":
        load_package("pyarrow.parquet", "parquet")  # before anything is paid or replaced
    return form


def make_room(saving: Saving, rows: Path, check: Callable[[], object]) -> None:
    """Refuses to write over a file that may be paid for; with --overwrite removes it, after `check` went well."""
    output, resume = saving.output, saving.resume_path
    if output is None or resume is None:
        return
    if saving.overwrite:
        check()
        for each in (resume, rows, output):
            each.unlink(missing_ok=True)
    elif output.exists() and not resume.exists():
        raise Failure(f"{output} already exists. Choose another name, or replace it with --overwrite.", WRONG_INPUT)


@contextmanager
def resumable(saving: Saving, rows: Path, walk: Told) -> Iterator[None]:
    """Explains how to resume after an interruption, and removes the files of a run that was refused at its start."""
    resume = saving.resume_path
    is_new = resume is not None and not resume.exists()
    try:
        yield
    except KeyboardInterrupt:
        how = "With -o FILE it can be resumed later." if resume is None else GO_ON
        raise Failure(f"Interrupted after {walk.rows_done:,} rows. {how}", INTERRUPTED) from None
    except OSError as error:
        if isinstance(error, SiteglassError) or error.errno not in NO_ROOM or resume is None:
            raise
        place = error.filename or saving.output
        raise Failure(f"{place}: {error.strerror}. Free some space. {GO_ON}", WRONG_INPUT) from None
    except ResumeError as error:
        raise Failure(_resume_failure(resume, error), WRONG_INPUT) from None
    except (BadRequest, Unauthorized, PaymentRequired, Forbidden, NotFound):
        # Refused, so nothing was charged: a corrected command must not meet the resume file of the wrong one. Other
        # failures may come after an attempt whose answer was lost, and that must be asked for under the same key.
        if is_new and resume is not None and walk.rows_done == 0:
            resume.unlink(missing_ok=True)
            if rows.exists() and rows.stat().st_size == 0:
                rows.unlink()
        raise


def ask_before_spending(
    session: Session, saving: Saving, most_rows: int | None, price: Callable[[], Quote], doubt: str = ""
) -> None:
    """Ask once whoever sits at the terminal, if the reading is doubtful or much is bought.

    `price` is asked only then. In a pipe, a doubtful reading stops the command.
    """
    if saving.yes:
        return
    if not session.for_people or not sys.stdin.isatty():
        if doubt:
            raise Failure(f"{doubt} Nothing was spent. Change the words, or pass --yes to search like this.", DOUBTFUL)
        return
    cost = _cost_to_ask_about(saving, most_rows, price)
    if (doubt or cost) and not click.confirm(" ".join(filter(None, (doubt, cost, "Continue?"))), err=True):
        raise Failure("Stopped before anything was spent. --max-lead-credits N limits the price.", INTERRUPTED)


def _cost_to_ask_about(saving: Saving, most_rows: int | None, price: Callable[[], Quote]) -> str:
    """The price in words, if it is above --ask-above; without that, if more than one page is bought. Else empty."""
    allowed = MAX_LIMIT if saving.ask_above is None else saving.ask_above
    if any(most is not None and most <= allowed for most in (saving.max_lead_credits, most_rows)):
        return ""
    quote = price()
    pages = quote.total_results if saving.ask_above is None else quote.lead_credits
    if pages <= allowed or quote.lead_credits == 0:
        return ""
    if saving.resume_path is not None and saving.resume_path.exists():
        quote = replace(quote, exact=False)  # an earlier run has paid for a part
    return f"This costs {_price(quote)}."


def _resume_failure(resume: Path | None, error: ResumeError) -> str:
    """What is wrong with a resume file, in words of this program."""
    told = str(error)
    if "belongs to another run" in told:
        told = f"{resume} belongs to another command. Repeat the original command to continue it."
    told = told.replace("max_lead_credits=", "--max-lead-credits ").replace("max_leads=", "--max-leads ")
    told = told.replace(", or start again without this resume file", "")
    return f"{told} To start again, use --overwrite or another -o."


def finished(
    session: Session, saving: Saving, done: Export, rows: Path, what: str, reading: Reading | None = None
) -> None:
    """Tell what was written; remove what only a later run would have needed."""
    if not session.for_people:
        say_json(
            {
                "file": str(done.path),
                "rows": done.rows,
                "lead_credits": done.credits_used,
                "api_credits": done.api_credits_used,
                "stopped": done.stopped,
                **_reading_part(reading),
            }
        )
    else:
        note(f"{done.path}: {done.rows:,} {what}, {counted(done.credits_used, 'lead credit')}.")
    stop_at_cap(saving, done.stopped)
    resume = saving.resume_path
    if resume is not None:
        # In this order: rows without a resume file are in nobody's way, the other way round they are missed.
        resume.unlink(missing_ok=True)
        if rows != done.path:
            rows.unlink(missing_ok=True)


def stop_at_cap(saving: Saving, stopped: str | None) -> None:
    """A walk that its budget ended is not whole, and says so."""
    if stopped == "max_lead_credits":
        again = "Run the same command with a higher --max-lead-credits to continue."
        more = again if saving.output else "Raise it for more."
        raise Failure(f"Stopped at --max-lead-credits {saving.max_lead_credits}. {more}", NO_CREDITS)


def _price(quote: Quote) -> str:
    """A price in words."""
    most = "" if quote.exact else "at most "
    api = f" and {counted(quote.api_credits, 'API credit')}" if quote.api_credits else ""
    return f"{most}{counted(quote.lead_credits, 'lead credit')}{api}"


def _reading_part(reading: Reading | None) -> dict[str, str]:
    """How a search was interpreted, for programs; of an enrichment nothing."""
    return {} if reading is None else {"reading": reading.summary}


def tell_price(session: Session, quote: Quote, what: str, reading: Reading | None = None) -> None:
    """The price of a walk."""
    if session.for_people:
        note(f"{quote.total_results:,} {what}; this costs {_price(quote)}. Nothing was spent.")
        return
    say_json(
        {
            "lead_credits": quote.lead_credits,
            "api_credits": quote.api_credits,
            "total_results": quote.total_results,
            "exact": quote.exact,
            **_reading_part(reading),
        }
    )
