"""Downloads: jobs that are running or have ended, what each cost, and its file."""

from __future__ import annotations

from typing import cast

from starlette.responses import Response

from siteglass.access.browsing import browser_terms
from siteglass.dashboard.downloads import file_answer
from siteglass.dashboard.explore.buying import not_bought
from siteglass.dashboard.explore.download import FORMATS, JOBS
from siteglass.dashboard.guard import Dashboard, DeclaredPage, Visit, see_other
from siteglass.dashboard.refusals import NOT_THERE
from siteglass.errors import TooManyRequests
from siteglass.leads.downloads import working
from siteglass.leads.downloads.columns import COLUMN_SETS
from siteglass.leads.downloads.files import file_name
from siteglass.leads.downloads.jobs import KEPT_FOR, Download, Downloads, FileFormat, FileGone

ROWS_PER_UNIT = 1_000
"""Of the rate limit, for making a file: a workbook of 20,000 rows takes seconds."""
INTERNAL_REASONS = {
    working.NO_CREDITS: "The account may get too few leads for the next page.",
    working.NO_PRICE: "The next leads would be more than you agreed to.",
    working.DAILY_CAP: "A daily cap is reached.",
    working.NOT_ALLOWED: "The person who started it can no longer get leads for this account.",
    working.SUSPENDED: "The account was suspended. The leads until then are in the file.",
    working.CAP_REACHED: "The job has reached its limit.",
}
"""Why a job ended, where pages don't mention credits."""


def state_words(download: Download) -> tuple[str, str]:
    """The state of a job in words, and the tone of its badge."""
    match download.state:
        case "queued":
            return "Waiting", ""
        case "running":
            return ("Stopping" if download.stop_wanted else "Running"), "warn"
        case "done":
            return "Complete", "good"
        case "stopped":
            return "Stopped", ""
        case "ended":
            return "Ended early", "bad"


async def show(dashboard: Dashboard, visit: Visit) -> Response:
    """All jobs of the account; the page asks for them again while one is open."""
    jobs = await Downloads(dashboard.backends.postgres).of_account(visit.who.account_id)
    running = sum(job.is_open for job in jobs)
    return dashboard.page(
        visit,
        "downloads.html",
        jobs=jobs,
        running=running,
        state_words=state_words,
        internal_reasons=INTERNAL_REASONS,
        formats=FORMATS,
        column_sets=COLUMN_SETS,
        kept_days=KEPT_FOR.days,
    )


async def _find(dashboard: Dashboard, visit: Visit) -> Download:
    found = await Downloads(dashboard.backends.postgres).find(visit.who.account_id, visit.number("download_id"))
    if found is None:
        raise NOT_THERE
    return found


async def send_file(dashboard: Dashboard, visit: Visit) -> Response:
    """The file of a job, as it was chosen or in another format, without what was suppressed since."""
    job = await _find(dashboard, visit)
    format_, columns = visit.query.get("format", job.format), visit.query.get("columns", job.columns)
    if format_ not in FORMATS or columns not in COLUMN_SETS or job.is_open or not job.rows:
        raise NOT_THERE
    chosen = cast("FileFormat", format_)
    terms = await browser_terms(dashboard.backends.postgres, visit.who.account_id, visit.who.person_id)
    try:
        await dashboard.take_units(visit, terms.caller, -(-job.rows // ROWS_PER_UNIT))
        media_type, pieces = await dashboard.download_files.open(job, chosen, columns)
        return await file_answer(pieces, file_name(job, chosen, columns), media_type)
    except FileGone:
        raise NOT_THERE from None
    except TooManyRequests as error:
        raise not_bought(error, visit.unit) from error


async def stop(dashboard: Dashboard, visit: Visit) -> Response:
    """Stop a job; it keeps what was paid for."""
    job = await _find(dashboard, visit)
    await Downloads(dashboard.backends.postgres).stop(job.account_id, job.id)
    return see_other(JOBS)


async def delete(dashboard: Dashboard, visit: Visit) -> Response:
    """Delete a job that has ended, and its file."""
    job = await _find(dashboard, visit)
    await Downloads(dashboard.backends.postgres).delete(job.account_id, job.id)
    return see_other(f"{JOBS}?done=download-deleted")


PAGES = (
    DeclaredPage("downloads", "GET", JOBS, show),
    DeclaredPage("downloads.file", "GET", JOBS + "/{download_id}/file", send_file),
    DeclaredPage("downloads.stop", "POST", JOBS + "/{download_id}/stop", stop, role="member"),
    DeclaredPage("downloads.delete", "POST", JOBS + "/{download_id}/delete", delete, role="member"),
)
