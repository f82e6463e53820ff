"""The mail about the new leads of a run: a table without contacts, as text and as HTML. No I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from markupsafe import Markup

from siteglass.leads.rows import LeadRow
from siteglass.leads.watches.previews import NewLeads
from siteglass.leads.watches.runs import OpenRun
from siteglass.leads.watches.watches import Watch

_TEXT = """\
{found}

{leads}{rest}{bought}{link}
The run of {ran_at} found {matches} in all.{reread}

You receive this email because a watch of the account {account} names your address. To stop these emails, open:

  {unsubscribe}
"""
_LINK = """\
See exactly these leads in Explore:

  {explore}

"""
_SANDBOX = """\
These are made-up leads, because a test key watches them.

"""
_HTML = Markup("""\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{found}</title></head>
<body style="font: 15px/1.5 sans-serif; color: #1c2430; max-width: 720px; margin: 24px auto; padding: 0 16px">
<p>{found}</p>
{table}{rest}{bought}{link}<p>The run of {ran_at} found {matches} in all.{reread}</p>
<p style="color: #5b6675; font-size: 13px">You receive this email because a watch of the account {account} names your
address. <a href="{unsubscribe}">Stop these emails</a></p>
</body></html>
""")
_HTML_PART = Markup("<p>{}</p>\n")
_HTML_LINK = Markup('<p><a href="{explore}">See exactly these leads in Explore</a></p>\n')
_COLUMNS = ("Lead", "What and where", "Technologies", "Contacts")
_TABLE = Markup('<table style="border-collapse: collapse; width: 100%">\n<tr>{}</tr>\n{}</table>\n')
_CELL = Markup('<td style="padding: 6px 12px 6px 0; border-top: 1px solid #dde2e8; vertical-align: top">{}</td>')
_HEAD = Markup('<th style="padding: 6px 12px 6px 0; text-align: left">{}</th>')


@dataclass(frozen=True, slots=True)
class RunMail:
    """A mail, and its text and HTML without the link to unsubscribe, which is another one for each person."""

    subject: str
    text: str
    html: str


def write_run_mail(open_run: OpenRun, new: NewLeads, bought: str, explore: str, unsubscribe: str) -> RunMail:
    """The mail to one person. `bought` says what was bought; `explore` is empty for the made-up leads of test keys."""
    watch, run = open_run.watch, open_run.run
    leads = _leads(new.total, "new lead")
    found = f"{leads} {'matches' if new.total == 1 else 'match'} the saved search {watch.name}."
    more = new.total - len(new.shown)
    rest = f"{more:,} more {'is' if more == 1 else 'are'} not shown here." if more else ""
    reread = f" {_leads(run.reread, 'more lead')} only match because we now read their sites differently."
    values = {
        "found": found,
        "ran_at": _run_time(open_run),
        "matches": _leads(run.matches, "lead"),
        "reread": reread if run.reread else "",
        "account": _line(open_run.account_name),
        "unsubscribe": unsubscribe,
    }
    text = _TEXT.format(
        **values,
        leads="".join(map(_text_of, new.shown)),
        rest=f"{rest}\n\n" if rest else "",
        bought=f"{bought}\n\n" if bought else "",
        link=_LINK.format(explore=explore) if explore else _SANDBOX,
    )
    html = _HTML.format(
        **values,
        table=_table(new.shown) if new.shown else "",
        rest=_HTML_PART.format(rest) if rest else "",
        bought=_HTML_PART.format(bought) if bought else "",
        link=_HTML_LINK.format(explore=explore) if explore else _HTML_PART.format(_SANDBOX.strip()),
    )
    return RunMail(f"{_test(watch)}{leads}: {watch.name}", text, html)


def _test(watch: Watch) -> str:
    return "Test: " if watch.test else ""


def _leads(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _run_time(open_run: OpenRun) -> str:
    zone = open_run.watch.terms.schedule.time_zone
    at = open_run.run.ran_at.astimezone(ZoneInfo(zone))
    return f"{at.day} {at:%b %Y, %H:%M} ({zone})"


def _text_of(row: LeadRow) -> str:
    facts = (_what(row), row.technologies, row.contacts)
    named = (row.name, row.domain if row.domain != row.name else "")
    first, *others = [_line(part) for part in (" · ".join(filter(None, named)), *facts) if part]
    return f"{first}\n  {' · '.join(others)}\n\n"


def _table(rows: Sequence[LeadRow]) -> Markup:
    head = Markup("").join(map(_HEAD.format, _COLUMNS))
    body = Markup("").join(Markup("<tr>{}</tr>\n").format(_cells(row)) for row in rows)
    return Markup('<table style="border-collapse: collapse; width: 100%">\n<tr>{}</tr>\n{}</table>\n').format(
        head, body
    )


def _cells(row: LeadRow) -> Markup:
    name = Markup("{}").format(_line(row.name or row.kind))
    if row.domain and row.domain != row.name:
        name += Markup('<br><span style="color: #5b6675">{}</span>').format(row.domain)
    cells = (name, _line(_what(row)), _line(row.technologies), _line(row.contacts))
    return Markup("").join(map(_CELL.format, cells))


def _what(row: LeadRow) -> str:
    return ", ".join(filter(None, (row.kind, row.place)))


def _line(text: str) -> str:
    """A text of a site as one line."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
