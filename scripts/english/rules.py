"""The rules: phrases that readers stumble over, each with what to write instead, and the length of a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from english.texts import CODE

MAX_WORDS = 25


@dataclass(frozen=True)
class Rule:
    """A phrase to avoid, and what to write instead."""

    kind: str
    pattern: re.Pattern[str]
    advice: str


@dataclass(frozen=True)
class Hit:
    """A place where a rule is broken: the words, and what to write instead."""

    kind: str
    words: str
    advice: str


def _rule(kind: str, pattern: str, advice: str, *, flags: int = re.IGNORECASE) -> Rule:
    return Rule(kind, re.compile(pattern, flags), advice)


RULES = (
    _rule(
        "is no",
        r"(?<!there )(?<!here )\b(?:is|are|was|were) (?:no (?!longer|more than|less than|later|earlier|fewer|bigger)\w+"
        r"|(?-i:none)\b(?! of))",
        "'is not a', or 'there is no'",
    ),
    _rule("for nothing", r"\bfor nothing\b", "'free' or 'free of charge'"),
    _rule(
        "who without a noun",
        r"\b(?i:for|helps?|by|of|to|from|with|than|against) who\b|(?:^|(?<=[.;] ))[Ww]ho (?![^.;]*\?)\w+ \w+ \w+",
        "name the people: 'operators', 'people who', 'the caller'",
        flags=0,
    ),
    _rule("who asks", r"\bwho(?:ever)? asks?\b", "'the caller' or 'the requester'"),
    _rule("told", r"\b(?:told|tells|telling)\b", "'shows', 'returns', 'reports', 'lists' or 'explains'"),
    _rule("spelled", r"\b(?:spelled|spelt|spells)\b", "'formats', 'serializes', 'writes' or 'renders'"),
    _rule("mend", r"\bmend(?:s|ed|ing)?\b", "'fix'"),
    _rule("go on", r"\b(?:go|goes|going|gone|went) on\b", "'continue', 'resume', 'retry' or 'next step'"),
    _rule("way on", r"\bways? on\b", "'what to do next'"),
    _rule(
        "stands", r"\b(?:stands?(?! for\b| out\b| in for\b)|stood|lies|lie|lain)\b", "'is', 'is stored', 'is listed'"
    ),
    _rule(
        "behind",
        r"(?<!leave )(?<!leaves )(?<!left )\bbehind\b"
        r"(?! (?:an?|the|your|its|each|one|another) ?(?:\w+ )?(?:prox|load balancer|pgbouncer|firewall)"
        r"| (?:toxi)?(?:prox|load balancer|pgbouncer))",
        "'after' for text and time; 'behind' is for proxies",
    ),
    _rule(
        "held",
        r"(?<!lock )(?<!locks )(?<!is )\bheld\b|(?<!lock )\bis held (?!by\b|while\b|until\b)",
        "'stored', 'kept', 'checked against'",
    ),
    _rule("of its own", r"\bof (?:its|their|his|her|our|your|my) own\b", "'its own X', 'separate' or 'dedicated'"),
    _rule("of yours", r"\bof (?:yours|ours|theirs|mine)\b", "'your X', 'our X'"),
    _rule("house", r"\brooms? of the house\b|\bthe house\b", "'module', 'package' or 'architecture'"),
    _rule("plain reading", r"\bplain reading\b", "'brute-force check' or 'reference scan'"),
    _rule("judge", r"\b(?:the|a|separate) judge\b|\bjudges\b", "'the verifier', 'verifies'"),
    _rule("tries", r"\btries\b(?! to\b)|\b(?:tried|trying) again\b", "'attempts' (noun), 'retries' (verb)"),
    _rule("most", r"^(?:Most|Least) [a-z]+ (?:of|in|a|per|an)\b", "'Maximum number of', 'Minimum'", flags=0),
    _rule("anew", r"\banew\b", "'again' or 'from scratch'"),
    _rule("alike", r"\balike\b", "'in the same way', 'the same response'"),
    _rule("void", r"\b(?:is|are) void\b", "'stops working'"),
    _rule("has an end", r"\bha(?:s|ve) an end\b", "'expires'"),
    _rule("print of", r"\bprint of (?:a|the|this) request\b", "'fingerprint of the request'"),
    _rule("be had", r"\bbe had\b", "'is available'"),
    _rule("away", r"\b(?:is|are|was|were|stays?|stayed) away\b", "'is unavailable', 'does not respond'"),
    _rule("dearer", r"\bdear(?:er|est)\b", "'more expensive'"),
    _rule("written over", r"\bwritten over\b", "'overwritten'"),
    _rule("speaks of", r"\bspeaks? of\b", "'mentions' or 'describes'"),
    _rule("be it", r"\bbe it\b", "'even if', 'or'"),
    _rule("sent again", r"\bsent again\b", "'repeating the request'"),
)
LONG = "long sentence"
KINDS = (*(rule.kind for rule in RULES), LONG)

_END = re.compile(r"(?<=[.!?:])[)\"'”*_]*\s+(?=[\"'“(*_]*(?:[A-Z0-9]|" + re.escape(CODE) + r"))")
_WORD = re.compile(r"[^\W_]")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|vs|cf|no|approx)\.$", re.IGNORECASE)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text; a colon before a capital ends one, too, as it introduces a whole new one."""
    started = 0
    for end in _END.finditer(text):
        if not _ABBREVIATION.search(text[started : end.start()]):
            yield text[started : end.start()]
            started = end.end()
    yield text[started:]


def word_count(sentence: str) -> int:
    """Words; a piece of code counts as one."""
    return sum(1 for word in sentence.split() if _WORD.search(word))


def hits(text: str) -> Iterator[Hit]:
    """Every place of a text that breaks a rule."""
    for rule in RULES:
        for match in rule.pattern.finditer(text):
            yield Hit(rule.kind, match[0], rule.advice)
    for sentence in sentences(text):
        if (count := word_count(sentence)) > MAX_WORDS:
            yield Hit(LONG, f"{' '.join(sentence.split()[:6])} …", f"{count} words, at most {MAX_WORDS}: split it")
