"""Pages on the language of searches: the directives, and the values they know."""

from __future__ import annotations

from collections.abc import Iterable
from inspect import cleandoc

from babel import Locale

from reference.markdown import code, json_code, paragraph, plain, table
from reference.messages import parameter_table, parameters_of, response_example, schema_of
from siteglass.index.documents import spending_range
from siteglass.leads.operations import VALUES
from siteglass.leads.requests import DEFAULT_SORT
from siteglass.query import directives
from siteglass.query.criteria import (
    MAX_BRANCH_CONDITIONS,
    MAX_BRANCHES,
    MAX_CANONICAL_BYTES,
    MAX_CONDITIONS,
    MAX_VALUES,
)
from siteglass.query.detected import detected_technologies
from siteglass.query.field import Ask, Form, Kind, SearchableField
from siteglass.query.fields import ASKED, SORTS
from siteglass.query.trades import trades
from siteglass.query.values import MAX_AGE_DAYS
from siteglass.query.vocabulary import vocabulary

_ARGUMENTS = {
    Kind.TERM: "values",
    Kind.LACKS: "values",
    Kind.PATH: "page paths",
    Kind.TEXT: "words or phrases",
    Kind.NUMBER: "numbers with an operator, or ranges",
    Kind.TIME: "RFC 3339 time or date",
    Kind.AGE: f"days, 1d to {MAX_AGE_DAYS}d",
    Kind.CHANGE: f"technologies, then days (1d to {MAX_AGE_DAYS}d) or a date",
    Kind.FLAG: "none: a flag, without parentheses",
}


def example_line(asked: SearchableField) -> str:
    """A line that shows the directive at work."""
    ask = asked.ask
    if ask.kind is Kind.FLAG:
        return f"@{ask.directive}"
    forms = {filter_.form: filter_.example for filter_ in ask.filters}
    shown = forms.get(Form.COMPARISON) or forms.get(Form.SPAN) or forms.get(Form.MOMENT) or asked.field.example
    values = map(str, shown if isinstance(shown, list) else [shown])
    return f"@{ask.directive}({', '.join(values)})"


def directives_page() -> str:
    """The grammar in short, and every directive."""
    grammar = (directives.__doc__ or "").split("\n\n")[1]
    return (
        "# Directives of `wrapped_query`\n\n"
        + paragraph(
            "Write one condition per line; a lead must match all of them. Values in parentheses are alternatives. `!` "
            "excludes: `!@country(USA, CAN)` matches neither country, and keeps leads whose country is not known. A "
            "line that starts with `#`, and text after ` #`, is a comment. Put a value with a comma, parenthesis or "
            "quote in double quotes."
        )
        + paragraph(
            "`@any[ … | … ]` matches leads that match at least one branch: `@any[ @lacks(analytics) | @not_secure ]`. "
            "A branch is one or more conditions with blanks between them, and all of them must match. So "
            "`@any[ @city(London) @country(GBR) | @city(Dublin) @country(IRL) ]` matches London in the United Kingdom "
            "and Dublin in Ireland, but not London in Ireland."
        )
        + paragraph(
            "`!@any[ … ]` excludes leads that match a whole branch. `!@any[ @technology(Hotjar) "
            "@technology(Mixpanel) ]` excludes sites that use both, and keeps sites that use one of them. As with "
            "every `!`, a lead stays if a fact that the branch needs is not known. `@any` cannot contain another "
            "`@any`. Inside it, `@no_generic_emails` is a condition only: generic addresses stay in `emails`."
        )
        + paragraph(
            "In `@added` and `@dropped` the last value says since when: `@added(Klaviyo, Mailchimp, 30d)` matches "
            "sites that began to use one of the two in the last 30 days. A date such as `2026-10-18` includes that "
            "day. The first page turns days into a date, which `filters` shows, so later pages search for the same. "
            "Only known technologies have a history. In canonical form a condition may have several windows, each "
            "for the technologies since the one before: `!@added(Drip, 30d, Klaviyo, 90d)`."
        )
        + f"<!-- not run: the grammar of the language -->\n```text\n{cleandoc(grammar)}\n```\n\n"
        + paragraph(
            f"A text has at most {directives.MAX_TEXT_CHARS:,} characters; a search at most {MAX_CONDITIONS} "
            f"conditions, {MAX_VALUES} values and {MAX_CANONICAL_BYTES:,} bytes in canonical form. An `@any` has at "
            f"most {MAX_BRANCHES} branches of at most {MAX_BRANCH_CONDITIONS} conditions, which count too. In "
            "canonical form, branches that another branch covers are gone, and what plain lines can say becomes "
            "plain lines: `@any[ @country(DEU) | @country(AUT) ]` is `@country(AUT, DEU)`."
        )
        + paragraph(
            "*Closed*: an unknown value is an error that names the nearest one. *Open*: an unknown value finds "
            "nothing; `X-Query-Notes` counts it, and `explain` and `interpret` list it with the nearest names. After "
            "`!` and in `@lacks` it would match everything, so it is an error there unless it is in double quotes."
        )
        + table(
            ["directive", "meaning", "argument", "known values", "example", "excluded", "same as filter"],
            [_directive_row(asked) for asked in ASKED.values()],
        )
    )


def _directive_row(asked: SearchableField) -> list[str]:
    ask, line = asked.ask, example_line(asked)
    name = f"`@{ask.directive}`" + (f", alias `@{ask.alias}`" if ask.alias else "")
    filters = ", ".join(code(filter_.name) for filter_ in ask.filters)
    return [name, plain(asked.field.meaning), _argument(ask), _known(ask), code(line), code(f"!{line}"), filters]


def _argument(ask: Ask) -> str:
    text = _ARGUMENTS[ask.kind]
    if ask.kind is Kind.NUMBER:
        low, high = ask.directive_bounds or ask.bounds
        return f"{text}; {low:,} to {high:,}"
    return text


def _known(ask: Ask) -> str:
    if ask.vocabulary is None:
        return ""
    return f"{'closed' if ask.closed else 'open'}: [{ask.vocabulary.replace('_', ' ')}]({_anchor(ask.vocabulary)})"


def _anchor(kind: str) -> str:
    return f"values.md#{kind.replace('_', '-')}"


def values_page() -> str:
    """The closed lists, and how long the open ones are."""
    known = vocabulary()
    names = Locale("en").languages
    languages = [[code(language), names[language]] for language in known.values("language")]
    countries = [
        [
            code(alpha3),
            code(known.country_alpha2(alpha3) or ""),
            known.country_name(alpha3),
            known.region_of(alpha3) or "",
            known.subregion_of(alpha3) or "",
        ]
        for alpha3 in sorted(known.values("country"), key=known.country_name)
    ]
    trade_rows = [
        [code(trade), trades().name(trade), code(parent) if (parent := trades().trade(trade).parent) else ""]
        for trade in trades().ids()
    ]
    # Every step of the ladder is wider than 50.
    ladder = dict.fromkeys(filter(None, (spending_range(amount) for amount in range(0, 200_000, 50))))
    counts = {kind: f"{len(known.values(kind)):,}" for kind in ("city", "state")}
    sections = {
        "Orders": "Of `sort`; `-` is from high to low. What is not known comes last in every order. Default: "
        f"`{DEFAULT_SORT}`." + _listed(SORTS),
        "Spending": "The ranges in which a search shows `spending`, USD a month." + _listed(ladder),
        "Service type": "Closed." + _listed(known.values("service_type")),
        "Category": "Of `categories_uses`, `offers` and `lacks`. Open." + _listed(known.values("category")),
        "Trade": "Closed. A wider trade includes those under it. Names and other words in English, German, French,\n"
        "Spanish, Portuguese, Italian, Dutch and Polish are known; `GET /v1/values/trades` completes them.\n\n"
        + table(["id", "name", "under"], trade_rows),
        "Technology": _technologies(),
        "City": f"Open: {counts['city']} names are known, of cities of 15,000 people and more, and alternate names.\n",
        "State": f"Closed: {counts['state']} ISO 3166-2 codes. `TX` is that code in any country, `US-TX` in one; a\n"
        "name stands for all codes of that name.\n",
        "Region": "Closed." + _listed(known.values("region")),
        "Subregion": "Closed." + _listed(known.values("subregion")),
        "Language": "Closed.\n\n" + table(["code", "name"], languages),
        "Country": "Closed. Answers show the first code.\n\n"
        + table(["alpha-3", "alpha-2", "name", "region", "subregion"], countries),
    }
    start = paragraph(
        "Case and accents never matter, and other names are understood (`germany`, `DE`, `Deutschland`). Responses use "
        "the values listed here."
    )
    listed = "\n".join(f"## {title}\n\n{text}" for title, text in sections.items())
    return f"# Known values\n\n{start}{_completing()}{listed}"


def _completing() -> str:
    """The call that looks values up."""
    fields = parameters_of(VALUES)[0]["schema"]["enum"]
    example = response_example(VALUES)
    shown = example["values"][0] | {"categories": ["analytics"], "detected": True}
    rows = [
        [code(f"values[].{name}"), plain(schema["description"]), json_code(shown[name])]
        for name, schema in schema_of("KnownValueShown")["properties"].items()
    ]
    more = schema_of("ValuesResponse")["properties"]["more"]["description"]
    return (
        f"## {VALUES.method} {VALUES.path}\n\n"
        + paragraph(
            "Completes a text, for keys with the scope `search`. It takes one unit of the rate limit and costs no "
            "credits; a response may be cached for an hour. Equal values, names and aliases come first. Then follow "
            "names that begin with `q`, names of which a later word does, and aliases that do. If there is room, "
            "corrections of a misspelt `q` come last. Among equally good matches, and without `q`, the values that "
            "more leads have come first. The service counts them once per generation of the index. Of values with "
            "equal counts, the most populous cities come first, and others by name; without `q`, countries and states "
            "are also ordered by population."
        )
        + paragraph(f"Fields: {', '.join(map(code, fields))}.")
        + parameter_table(VALUES)
        + "\n"
        + table(["field", "meaning", "example"], [*rows, [code("more"), more, json_code(example["more"])]])
        + "\n"
    )


def _technologies() -> str:
    """How many are known and detected, by category."""
    known, detected = vocabulary().technologies(), detected_technologies()
    by_category: dict[str, list[str]] = {}
    for name, categories in known.items():
        for category in categories:
            by_category.setdefault(category, []).append(name)
    rows = [
        [f"`{category}`", f"{len(names):,}", f"{sum(name in detected for name in names):,}"]
        for category, names in sorted(by_category.items())
    ]
    return (
        f"Open: {len(known):,} names are known. Rules detect {len(detected):,} of them on web pages.\n"
        "Leads have the others only if they were imported so. A search for one, or without one, gets a note.\n"
        "`GET /v1/values/technologies` marks them with `detected`: false.\n\n"
        + table(["category", "known", "detected"], rows)
    )


def _listed(values: Iterable[str]) -> str:
    return "\n\n" + paragraph(", ".join(code(value) for value in values)).rstrip("\n") + "\n"
