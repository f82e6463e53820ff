"""How `wrapped_query` is written, for the API document: the rules, and a table of every directive."""

from __future__ import annotations

from siteglass.leads.records import known_values
from siteglass.query.criteria import (
    MAX_BRANCH_CONDITIONS,
    MAX_BRANCHES,
    MAX_CANONICAL_BYTES,
    MAX_CONDITIONS,
    MAX_VALUES,
)
from siteglass.query.directives import MAX_TEXT_CHARS
from siteglass.query.field import Form, Kind, SearchableField
from siteglass.query.fields import DIRECTIVES
from siteglass.query.values import MAX_AGE_DAYS


def _argument(asked: SearchableField) -> str:
    """An example of the text in the parentheses."""
    if asked.ask.kind is Kind.FLAG:
        return ""
    ranged = [f.example for f in asked.ask.filters if f.form in (Form.SPAN, Form.COMPARISON)]
    example = ranged[-1] if ranged else asked.field.example
    return f"({', '.join(map(str, example)) if isinstance(example, list) else example})"


def _directive_row(name: str, asked: SearchableField) -> str:
    filters = asked.ask.filters
    notes = [filters[0].meaning if len(filters) == 1 else f"{asked.field.meaning.partition(';')[0]}."]
    if name == asked.ask.alias:
        notes.append(f"The same as `@{asked.ask.directive}`.")
    if bounds := asked.ask.directive_bounds:
        notes.append(f"Here {bounds[0]} to {bounds[1]}.")
    if asked.ask.kind in (Kind.AGE, Kind.CHANGE):
        notes.append(f"At most {MAX_AGE_DAYS}d.")
    if asked.ask.kind in (Kind.TERM, Kind.LACKS) and not filters:
        notes.append(known_values(asked.ask))
    return f"| `@{name}{_argument(asked)}` | {' '.join(notes)} |"


def directive_table() -> str:
    """How `wrapped_query` is written, with every directive."""
    rows = "\n".join(_directive_row(name, asked) for name, asked in DIRECTIVES.items())
    return f"""\
Directive text: one condition per line, and all lines must match. Values in parentheses are alternatives. `!` before a
directive excludes. Numbers take `>` `<` `>=` `<=` `=`, `less than`, `greater than` or a range `1000-5000`. Double
quotes keep commas and parentheses inside a value; a line that starts with `#` is a comment. At most {MAX_TEXT_CHARS:,}
characters, {MAX_CONDITIONS} conditions, {MAX_VALUES} values and {MAX_CANONICAL_BYTES:,} bytes in canonical form.
`query` is ignored if this is sent; filters apply in addition.

`@any[ ... | ... ]` on one line matches leads that match at least one branch. A branch is one or more directives with
blanks between them, and all of them must match: `@any[ @country(DEU) @technology(Shopify) | @country(AUT) ]`. `!@any[
... ]` excludes leads that match a whole branch, so `!@any[ @technology(A) @technology(B) ]` means "not both". At most
{MAX_BRANCHES} branches of {MAX_BRANCH_CONDITIONS} conditions; `@any` cannot contain another `@any`.

| directive | meaning |
| --- | --- |
{rows}
"""
