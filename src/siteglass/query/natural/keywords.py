"""What search makes of a sentence today: every word is a keyword that must be found."""

from __future__ import annotations

import re

from siteglass.query.criteria import Condition, Criteria, criteria
from siteglass.query.directives import size_problem
from siteglass.query.fields import ASKED
from siteglass.query.values import ValueProblem, read_value

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")


def understand(query: str) -> Criteria:
    """Criteria of a sentence; what goes beyond the size of a search is left out, never refused."""
    ask = ASKED["keywords"].ask
    understood = Criteria()
    for word in _WORD.findall(query):
        try:
            values = read_value(ask, word)
        except ValueProblem:
            continue
        larger = criteria([*understood.conditions, Condition("keywords", values)])
        if size_problem(larger):
            break
        understood = larger
    return understood
