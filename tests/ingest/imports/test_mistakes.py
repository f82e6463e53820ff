"""A table with every kind of mistake: what is right is loaded, and everything else is explained."""

from __future__ import annotations

import json
from pathlib import Path

from siteglass.ingest.imports.leads import open_import, preview

NOW_MS = 1_794_000_000_000
TABLE = Path(__file__).with_name("mistakes.csv")
LONG = "x" * 200

# Line, column, value, reason; the first ones and those of times cost the row, the others one value.
ROWS = [
    (3, "Domain", "", "has no domain"),
    (4, "Domain", "localhost", "is a single label, not a domain such as example.com"),
    (5, "Domain", "192.0.2.7", "is an IP address, not a domain"),
    (6, "Domain", "acme dental.com", "is not a host name"),
    (7, "Domain", "acme.con", "does not end in a suffix of the internet such as .com"),
    (8, "Domain", "co.uk", "is a suffix that many websites share, not a website"),
    (9, "Domain", "joe@gmail.com", "is an address at a mail provider, which does not name a company"),
    (10, "Domain", "https://www.good.com/contact", "an earlier row has the same domain"),
    (11, "", "one cell too many", "has 16 cells, but there are 15 columns"),
    (12, "", 'open-quote.com,"The Quote', "a quote is not closed, or has text after it"),
    (13, "", 'quoted.com,"Acme" Ltd', "a quote is not closed, or has text after it"),
    (33, "Crawled at", "2031-01-01", "is in the future"),
    (34, "Crawled at", "09/21/2026", "not a time such as 2026-09-21 or 2026-09-21T14:13:20Z"),
    (35, "Crawled at", "46286", "not a time such as 2026-09-21 or 2026-09-21T14:13:20Z"),
]
VALUES = [
    (14, "E-Mail", "mail-a.com", "not an email address such as anna@example.com"),
    (15, "E-Mail", "jo@@mail-b.com", "not an email address such as anna@example.com"),
    (16, "E-Mail", "jo at mail-c", "not an email address such as anna@example.com"),
    (17, "Phone", "12345", "expected a phone number of 6 to 15 digits"),
    (18, "Phone", "call us: 512 555 0100", "not a phone number such as +1 512 555 0100"),
    (19, "Phone", "4.93012E+11", "a number that a spreadsheet shortened; store the column as text"),
    (20, "Country", "Germny", "not a known country"),
    (21, "State", "Texas", "not a known state of DEU"),
    (22, "State", "Limburg", "a state of several countries; give the country"),
    (23, "Language", "Englsh", "not a known language"),
    (24, "Trades", "Dragon tamer", "not a known trade"),
    (25, "Trades", "plumber", "more than 3 values"),
    (26, "SEO score", "120", "not between 0 and 100"),
    (27, "SEO score", "high", "not a whole number"),
    (28, "load_time_ms", "-5", "not between 0 and 2147483647"),
    (29, "Website", "javascript:alert(1)", "not a web address such as https://example.com/"),
    (30, "Facebook", "https://www.linkedin.com/company/acme", "not a profile such as https://www.facebook.com/example"),
    (31, "Facebook", "@acme", "not a profile such as https://www.facebook.com/example"),
    (32, "not_secure", "maybe", "neither yes nor no"),
    (36, "Company", "#REF!", "an error of the spreadsheet"),
    (37, "Company", "=A2&B2", "a formula; save the table with values"),
    (38, "Company", "M\ufffdller", "has characters that cannot be read; save the file as UTF-8"),
    (39, "Company", "Bell\x07", "has control characters"),
    (40, "Company", "MÃ¼ller", "is UTF-8 that was read as windows-1252; save the file as UTF-8 again"),
    (41, "Company", LONG, "longer than 512 characters"),
]
WITHOUT_LEAD = {line for line, *_ in ROWS}
FIELDS = {
    "E-Mail": "emails", "Phone": "phones", "Country": "country", "State": "state", "Language": "language",
    "Trades": "trades", "SEO score": "score", "load_time_ms": "load_time_ms", "Website": "url",
    "Facebook": "social_links", "not_secure": "secure", "Company": "business_name",
}  # fmt: skip


def test_all_that_is_right_is_loaded_and_each_reject_is_explained(tmp_path: Path) -> None:
    with open_import(TABLE, None, NOW_MS, lambda _: None) as table:
        leads = {one.lead.domain: one.lead for one in table.records}
        table.rejects.write(tmp_path / "rejects")
    rejects = [json.loads(line) for line in (tmp_path / "rejects").read_text().splitlines()]
    explained = sorted((one["line"], one["column"], one["value"], one["reason"]) for one in rejects)
    assert explained == sorted([*ROWS, *VALUES])
    assert {one["nearest"] for one in rejects if one["value"] == "Germny"} == {"DEU"}

    lines = TABLE.read_text("utf-8").splitlines()
    assert list(leads) == [
        line.partition(",")[0] for number, line in enumerate(lines, 1) if number > 1 and number not in WITHOUT_LEAD
    ]
    for number, column, *_ in VALUES:
        value = getattr(leads[lines[number - 1].partition(",")[0]], FIELDS[column])
        # Of lists, the good values stay.
        kept = {16: ("jo@mail-c.com",), 25: ("dentist", "roofer", "bakery")}
        assert value == kept[number] if number in kept else not value

    good = leads["good.com"]
    assert (good.emails, good.emails_personal) == (("jo@good.com", "info@good.com"), ("jo@good.com",))
    assert (good.country, good.state, good.language, good.trades) == ("USA", "TX", "en", ("dentist",))
    assert (good.score, good.load_time_ms, good.secure) == (85, 1200, True)
    assert (good.url, good.social_links) == ("https://www.good.com/", {"facebook": "https://facebook.com/good"})
    assert good.crawled_at_ms == 1_789_948_800_000
    assert (leads["also-good.com"].country, leads["also-good.com"].crawled_at_ms) == ("DEU", 0)


def test_a_preview_counts_the_same_and_writes_nothing(tmp_path: Path) -> None:
    with open_import(TABLE, None, NOW_MS, lambda _: None) as table:
        result = preview(table)
    assert (result.leads, result.rejects.count) == (27, len(ROWS) + len(VALUES))
    assert [lead.domain for lead in result.first] == [
        "good.com",
        "mail-a.com",
        "mail-b.com",
        "mail-c.com",
        "phone-a.com",
    ]
    assert result.first[0].country == "USA"
    assert result.rejects.reasons["emails", "not an email address such as anna@example.com"] == 3
    assert list(tmp_path.iterdir()) == []
