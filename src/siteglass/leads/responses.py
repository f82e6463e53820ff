"""The responses of lead operations: declared, and made from what the operations return."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from siteglass.corpus.evidence_files import MAX_SIGHTINGS, Sighting
from siteglass.leads.evidence import Evidence
from siteglass.leads.search import SearchPage
from siteglass.leads.values import FIELDS, MAX_SHOWN, NARROWED, ValuesRequest
from siteglass.query.completion import DETAILS, CompletedValue
from siteglass.query.criteria import MAX_CONDITIONS
from siteglass.query.cursor import MAX_CURSOR_CHARS, Continuation, CursorSealer
from siteglass.query.natural import LOW_CONFIDENCE, MAX_QUERY_CHARS
from siteglass.query.natural.interpretation import MAX_ALTERNATIVES
from siteglass.query.values import moment_text
from siteglass.web.messages import Count, Record, ResponseBody, Time, reference
from siteglass.web.operations import MAX_LIMIT

SEARCH_PATH = "/v1/leads/search"
NOTES_HEADER = "X-Query-Notes"
ESTIMATED = {"X-Total-Estimated": "true"}

# --- how a search was read ----------------------------------------------------------------------

Place = Annotated[int, Meta(ge=0, le=MAX_QUERY_CHARS)]
Confidence = Annotated[float, Meta(ge=0, le=1)]
EchoedFilters = Annotated[Record, reference("Filters")]


class Words(ResponseBody):
    """Words of `query` that are next to each other."""

    text: Annotated[str, Meta(description="The words as they were sent.")]
    start: Annotated[Place, Meta(description="Characters of `query` before them.")]
    end: Annotated[Place, Meta(description="Characters of `query` up to their end.")]


class Correction(Words):
    """A misspelt word."""

    to: Annotated[str, Meta(description="What it was taken for.")]


class ConditionReading(ResponseBody):
    """A condition, and why it is there."""

    directive: Annotated[
        str,
        Meta(
            description="As a line of `wrapped_query`; a score outside 1 to 90, which no line can say, as the filter "
            "that can: `seo_score: >95`."
        ),
    ]
    words: Annotated[
        list[Words], Meta(description="The words that say it; none if a filter or `wrapped_query` gives it.")
    ]
    rule: Annotated[
        str,
        Meta(
            description="What read the words, such as `place`, `technology`, `amount` or `keyword`; `model` if a "
            "language model did; `given` if no word said it."
        ),
    ]
    confidence: Annotated[Confidence, Meta(description="How sure it is that the words mean this.")]


class NoteOnWords(ResponseBody):
    """A note."""

    words: Annotated[list[Words], Meta(description="The words, in their order.")]
    message: Annotated[str, Meta(description="What to know about them, for people.")]


class AlternativeReading(ResponseBody):
    """Another reading."""

    words: Annotated[list[Words], Meta(description="The words, in their order.")]
    reading: Annotated[str, Meta(description="What they would be taken for.")]
    directives: Annotated[
        list[str], Meta(description="What the whole sentence would mean then, without filters sent beside it.")
    ]


class Interpretation(ResponseBody):
    """How a search was read. Every word of `query` is in `conditions`, `ignored` or `unsupported`."""

    query: (
        Annotated[str, Meta(description="The sentence; null if there is none, or `wrapped_query` is beside it.")] | None
    )
    directives: Annotated[
        list[str],
        Meta(
            max_length=MAX_CONDITIONS,
            description="The search in canonical lines of `wrapped_query`, without what only a filter can say.",
        ),
    ]
    filters: Annotated[
        EchoedFilters, Meta(description="What is searched. Sent as the body of a search, it repeats this one.")
    ]
    conditions: Annotated[
        list[ConditionReading], Meta(max_length=MAX_CONDITIONS, description="All conditions, with their reasons.")
    ]
    assumptions: Annotated[list[NoteOnWords], Meta(description='What was assumed, such as what "slow" means.')]
    corrections: Annotated[list[Correction], Meta(description="Misspelt words, and what they were taken for.")]
    alternatives: Annotated[
        list[AlternativeReading],
        Meta(max_length=MAX_ALTERNATIVES, description="Other readings of ambiguous words."),
    ]
    ignored: Annotated[list[Words], Meta(description="Words that say nothing about a lead.")]
    unsupported: Annotated[
        list[NoteOnWords],
        Meta(
            description="Words that say something and are not searched: no search can do it, no condition says it, or "
            "a filter replaces it. Each lowers the confidence."
        ),
    ]
    confidence: Annotated[
        Confidence,
        Meta(
            description=f"How sure the whole reading is. Below {LOW_CONFIDENCE:g} a search with `strict` is refused; 0 "
            "if the sentence says nothing to search for."
        ),
    ]
    backend: Annotated[
        Literal["rules", "rules+model"],
        Meta(
            description="What read the search: rules, or a language model as well, for words that the rules could not "
            "place."
        ),
    ]
    model: Annotated[str, Meta(description="The name of that model; null if none has answered.")] | None


class InterpretResponse(Interpretation):
    """How a search is read, and how many leads it finds."""

    total_results: Annotated[Count, Meta(description="How many leads match.")]


def interpret_response(reading: Interpretation, total: int) -> InterpretResponse:
    """A reading with the number of matches."""
    return InterpretResponse(**msgspec.structs.asdict(reading), total_results=total)


# --- a page of a search -------------------------------------------------------------------------

PagePath = Annotated[
    str, Meta(max_length=len(SEARCH_PATH) + 1 + MAX_CURSOR_CHARS, pattern=f"^{SEARCH_PATH}/[A-Za-z0-9_-]+$")
]


class SearchResponse(ResponseBody):
    """A page of leads."""

    result_id: Annotated[
        str, Meta(description="Of the search: the same on every page.", extra_json_schema={"format": "uuid"})
    ]
    total_results: Annotated[Count, Meta(description="All matches; the same on every page.")]
    size: Annotated[int, Meta(ge=0, le=MAX_LIMIT, description="Leads on this page.")]
    results: Annotated[list[Annotated[Record, reference("Lead")]], Meta(max_length=MAX_LIMIT)]
    filters: EchoedFilters
    next: Annotated[PagePath, Meta(description="Path of the next page; null on the last.")] | None
    previous: Annotated[PagePath, Meta(description="Path of the page before; null on the first.")] | None
    interpretation: Interpretation | UnsetType = UNSET


def search_response(
    page: SearchPage, sealer: CursorSealer, account: str, now_s: int, interpretation: Interpretation | None = None
) -> SearchResponse:
    """A page; the interpretation where it was asked for."""

    def path(continuation: Continuation | None) -> str | None:
        return None if continuation is None else f"{SEARCH_PATH}/{sealer.seal(continuation, account, now_s)}"

    return SearchResponse(
        result_id=page.result_id,
        total_results=page.total,
        size=len(page.records),
        results=page.records,
        filters=page.filters,
        next=path(page.next),
        previous=path(page.previous),
        interpretation=UNSET if interpretation is None else interpretation,
    )


# --- prices -------------------------------------------------------------------------------------


class Quote(ResponseBody):
    """The price, if `dry_run` was asked for."""

    dry_run: Annotated[bool, Meta(extra_json_schema={"const": True})]
    api_credits: Annotated[Count, Meta(description="API credits that this would cost now.")]
    lead_credits: Annotated[Count, Meta(description="Lead credits that this would cost now.")]


class SearchQuote(Quote):
    """The price of a page, if `dry_run` was asked for."""

    total_results: Annotated[Count, Meta(description="All matches.")]


class EnrichQuote(Quote):
    """The price of an enrichment, if `dry_run` was asked for."""

    found: Annotated[Count, Meta(description="Leads found, each counted once.")]


# --- an enrichment ------------------------------------------------------------------------------

SentDomain = Annotated[str, Meta(description="The domain as it was sent.")]
Message = Annotated[str, Meta(description="What happened, for people.")]


class EnrichFound(ResponseBody, tag_field="status", tag="success"):
    """The stored data."""

    domain: SentDomain
    data: Annotated[Record, reference("Enrichment")]


class EnrichNotFound(ResponseBody, tag_field="status", tag="not_found"):
    """Nothing is stored for the domain; not charged."""

    domain: SentDomain
    message: Message


class EnrichFailed(ResponseBody, tag_field="status", tag="error"):
    """The text is not a host name, or its look-up failed; not charged."""

    domain: SentDomain
    message: Message


EnrichItem = EnrichFound | EnrichNotFound | EnrichFailed


class EnrichResponse(ResponseBody):
    """What is stored about domains."""

    results: Annotated[
        list[EnrichItem], Meta(min_length=1, description="One item for each domain, in the order of the request.")
    ]


# --- evidence -----------------------------------------------------------------------------------


class SightingOnPage(ResponseBody):
    """A value as a page showed it."""

    page: Annotated[str, Meta(description="Address of the page.")]
    method: Annotated[str, Meta(description="How it was written there, such as `mailto`, `text`, `json_ld`, `tel`.")]
    first_seen: Annotated[Time, Meta(description="Oldest capture of the page that shows it.")]
    last_seen: Annotated[Time, Meta(description="Newest one.")]


class EvidentValue(ResponseBody):
    """A value of a lead."""

    value: str
    seen: Annotated[
        list[SightingOnPage],
        Meta(
            max_length=MAX_SIGHTINGS,
            description="Pages that showed it, the newest first. Empty: the lead was not taken from web pages by us.",
        ),
    ]


class EvidenceResponse(ResponseBody):
    """Where and when each address and number of a lead was seen."""

    domain: Annotated[str, Meta(description="As the lead is stored.")]
    emails: Annotated[list[EvidentValue], Meta(description="Those of `emails`, in its order.")]
    phones: Annotated[list[EvidentValue], Meta(description="Those of `phones`, in its order.")]


def evidence_response(evidence: Evidence) -> EvidenceResponse:
    """The values of a lead, each with where and when it was seen."""

    def values(field: str) -> list[EvidentValue]:
        return [
            EvidentValue(value=value, seen=[_sighting(one) for one in seen]) for value, seen in evidence.values[field]
        ]

    return EvidenceResponse(domain=evidence.domain, emails=values("emails"), phones=values("phones"))


def _sighting(sighting: Sighting) -> SightingOnPage:
    return SightingOnPage(
        page=sighting.page,
        method=sighting.method,
        first_seen=moment_text(sighting.first_seen_ms),
        last_seen=moment_text(sighting.last_seen_ms),
    )


# --- known values -------------------------------------------------------------------------------


class KnownValueShown(ResponseBody):
    """A value that the service knows."""

    value: Annotated[str, Meta(description="As a filter or directive takes it.")]
    name: Annotated[str, Meta(description="What people call it.")]
    matched: (
        Annotated[
            str,
            Meta(
                description="The alias or short code that fits `q`; null if name or value do, or are near to it. "
                "Aliases of places and languages are in lower case, without accents."
            ),
        ]
        | None
    )
    country: Annotated[str, Meta(description=f"Of {' and '.join(NARROWED)}: alpha-3 code.")] | UnsetType | None = UNSET
    state: (
        Annotated[str, Meta(description="Of city: as the filter `state` takes it; null if it is not known.")]
        | UnsetType
        | None
    ) = UNSET
    categories: Annotated[list[str], Meta(description="Of technologies: their categories.")] | UnsetType = UNSET


class ValuesResponse(ResponseBody):
    """Values that complete a text."""

    field: Annotated[str, Meta(extra_json_schema={"enum": list(FIELDS)})]
    values: Annotated[list[KnownValueShown], Meta(max_length=MAX_SHOWN, description="Those that fit best first.")]
    more: Annotated[bool, Meta(description="Whether more values fit than are shown.")]


def values_response(request: ValuesRequest, values: list[CompletedValue], more: bool) -> ValuesResponse:
    """The values in their order; what is not known of one is null."""
    details = DETAILS.get(request.kind, ())
    return ValuesResponse(field=request.field, values=[_known_value(value, details) for value in values], more=more)


def _known_value(value: CompletedValue, details: tuple[str, ...]) -> KnownValueShown:
    shown: dict[str, Any] = {name: getattr(value.known, name) for name in details}
    return KnownValueShown(value=value.known.value, name=value.known.name, matched=value.alias, **shown)
