"""The responses of lead operations: declared, and made from what the operations return."""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

import msgspec
from msgspec import UNSET, Meta, UnsetType

from siteglass.corpus.evidence_files import MAX_SIGHTINGS, Sighting
from siteglass.leads.evidence import Evidence
from siteglass.leads.search import SearchPage
from siteglass.leads.technology_details import TechnologyDetail
from siteglass.leads.values import FIELDS, MAX_SHOWN, NARROWED, ValuesRequest
from siteglass.query.completion import DETAILS, CompletedValue
from siteglass.query.criteria import MAX_CONDITIONS
from siteglass.query.cursor import MAX_CURSOR_CHARS, Continuation, CursorSealer
from siteglass.query.detected import detected_technologies
from siteglass.query.doubt import REVIEW_CONFIDENCE
from siteglass.query.natural import LOW_CONFIDENCE, MAX_QUERY_CHARS
from siteglass.query.natural.interpretation import MAX_ALTERNATIVES
from siteglass.query.notes import MAX_NEAREST, MAX_NOTES
from siteglass.query.read_back import MAX_CHARS as MAX_READ_BACK_CHARS
from siteglass.query.values import moment_text
from siteglass.web.messages import Count, Record, ResponseBody, Time, reference
from siteglass.web.operations import MAX_LIMIT

SEARCH_PATH = "/v1/leads/search"
NOTES_HEADER = "X-Query-Notes"
UNUSED_HEADER, CORRECTED_HEADER = "X-Query-Unused", "X-Query-Corrected"
MAX_SUMMARY_CHARS = 4_000
TOTAL_HEADERS = ESTIMATED_HEADER, ERROR_HEADER = "X-Total-Estimated", "X-Total-Error"


def total_headers(error: int | None) -> dict[str, str]:
    """What says that a total is not exact, and by how much it may be off; None: nobody knows."""
    return {} if error == 0 else {ESTIMATED_HEADER: "true", ERROR_HEADER: "unknown" if error is None else str(error)}


# --- how a search was read ----------------------------------------------------------------------

Place = Annotated[int, Meta(ge=0, le=MAX_QUERY_CHARS)]
Sentence = Annotated[str, Meta(max_length=MAX_READ_BACK_CHARS)]
Confidence = Annotated[float, Meta(ge=0, le=1)]
EchoedFilters = Annotated[Record, reference("Filters")]


class Words(ResponseBody):
    """Words of `query` that are next to each other."""

    text: Annotated[str, Meta(description="The words as they were sent.")]
    start: Annotated[Place, Meta(description="Position of their first character in `query`, from 0.")]
    end: Annotated[Place, Meta(description="Position after their last character in `query`.")]


class Correction(Words):
    """A misspelt word."""

    to: Annotated[str, Meta(description="What it was interpreted as.")]


class ConditionReading(ResponseBody):
    """A condition, and why it is there."""

    directive: Annotated[
        str,
        Meta(
            description="The condition as a line of `wrapped_query`. A score outside 1 to 90, which a line cannot "
            "express, is written as a filter: `seo_score: >95`."
        ),
    ]
    words: Annotated[
        list[Words],
        Meta(description="The words that it comes from; empty if it comes from a filter or `wrapped_query`."),
    ]
    rule: Annotated[
        str,
        Meta(
            description="The rule that interpreted the words, such as `place`, `technology`, `amount` or `keyword`. "
            "`given` if it comes from no word."
        ),
    ]
    confidence: Annotated[Confidence, Meta(description="Confidence that the words mean this.")]


class NoteOnWords(ResponseBody):
    """A note."""

    words: Annotated[list[Words], Meta(description="The words, in their order.")]
    message: Annotated[str, Meta(description="A note about them, for people.")]


class NoteOnConditions(ResponseBody):
    """A note on conditions, whatever they come from."""

    directives: Annotated[list[str], Meta(min_length=1, description="The conditions, as lines of `wrapped_query`.")]
    message: Annotated[str, Meta(description="A note about them, for people.")]
    nearest: Annotated[
        list[str],
        Meta(
            max_length=MAX_NEAREST,
            description="Known values that an unknown one most resembles, the best first; empty if there is none.",
        ),
    ]


class AlternativeReading(ResponseBody):
    """Another reading."""

    words: Annotated[list[Words], Meta(description="The words, in their order.")]
    reading: Annotated[str, Meta(description="What they would be interpreted as.")]
    directives: Annotated[
        list[str], Meta(description="What the whole sentence would then mean, without the filters sent with it.")
    ]
    read_back: Annotated[Sentence, Meta(description="The same as an English sentence, for people.")]


class Interpretation(ResponseBody):
    """How a search was read. Every word of `query` is in `conditions`, `ignored` or `unsupported`."""

    query: (
        Annotated[str, Meta(description="The sentence; null if none was sent, or if `wrapped_query` was sent with it.")]
        | None
    )
    read_back: (
        Annotated[
            Sentence,
            Meta(
                description="What is searched for as an English sentence, for people: `Agencies in London, GB that use "
                "WordPress and have a LinkedIn page`. Of long lists it has the first values and the number of the "
                "others. Null if `query` contains no condition."
            ),
        ]
        | None
    )
    summary: Annotated[
        str,
        Meta(
            max_length=MAX_SUMMARY_CHARS,
            description="The interpretation in one line, for people who are about to pay: what is searched for, which "
            "words were corrected, and which were not used: "
            '`Dentists in Austin, US · "dentsts" read as dentists · not used: "that are hiring"`.',
        ),
    ]
    needs_review: Annotated[
        bool,
        Meta(
            description="Whether somebody should look at the interpretation before paying: words that exclude "
            f"something were not used, or the confidence is below {REVIEW_CONFIDENCE:g}. `sgl` stops then."
        ),
    ]
    directives: Annotated[
        list[str],
        Meta(
            max_length=MAX_CONDITIONS,
            description="The search as canonical lines of `wrapped_query`, without conditions that only a filter can "
            "express.",
        ),
    ]
    filters: Annotated[
        EchoedFilters, Meta(description="What is searched for. Send it as the body of a search to repeat this one.")
    ]
    conditions: Annotated[
        list[ConditionReading],
        Meta(max_length=MAX_CONDITIONS, description="All conditions, with the words that they come from."),
    ]
    assumptions: Annotated[list[NoteOnWords], Meta(description='What was assumed, such as what "slow" means.')]
    corrections: Annotated[list[Correction], Meta(description="Misspelt words, and their corrections.")]
    alternatives: Annotated[
        list[AlternativeReading],
        Meta(max_length=MAX_ALTERNATIVES, description="Other interpretations of ambiguous words."),
    ]
    ignored: Annotated[list[Words], Meta(description="Words that say nothing about a lead.")]
    unsupported: Annotated[
        list[NoteOnWords],
        Meta(
            description="Words that have a meaning but are not searched for: no search supports it, no condition "
            "expresses it, or a filter replaces it. Each lowers the confidence."
        ),
    ]
    notes: Annotated[
        list[NoteOnConditions],
        Meta(
            max_length=MAX_NOTES,
            description="Conditions that probably match no lead: a value that is not known, or two conditions that "
            "contradict each other. They are searched for all the same.",
        ),
    ]
    confidence: Annotated[
        Confidence,
        Meta(
            description=f"Confidence in the whole interpretation. Below {LOW_CONFIDENCE:g}, a search with `strict` is "
            "refused; 0 if the sentence contains no condition."
        ),
    ]
    backend: Annotated[
        Literal["rules", "rules+model"],
        Meta(
            description="What read the sentence. What is searched is what the rules read; a language model that reads "
            "it otherwise is the last of `alternatives`."
        ),
    ]
    model: Annotated[str, Meta(description="Name of the language model; null if none answered.")] | None


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
        str, Meta(description="ID of the search; the same on every page.", extra_json_schema={"format": "uuid"})
    ]
    total_results: Annotated[Count, Meta(description="Number of matches; the same on every page.")]
    size: Annotated[int, Meta(ge=0, le=MAX_LIMIT, description="Leads on this page.")]
    results: Annotated[list[Annotated[Record, reference("Lead")]], Meta(max_length=MAX_LIMIT)]
    filters: EchoedFilters
    next: Annotated[PagePath, Meta(description="Path of the next page; null on the last page.")] | None
    previous: Annotated[PagePath, Meta(description="Path of the previous page; null on the first page.")] | None
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
        results=cast("list[Record]", page.records),  # encoded already, or structs of encoded fields
        filters=page.filters,
        next=path(page.next),
        previous=path(page.previous),
        interpretation=UNSET if interpretation is None else interpretation,
    )


# --- prices -------------------------------------------------------------------------------------


class Quote(ResponseBody):
    """The price, if `dry_run` was asked for."""

    dry_run: Annotated[bool, Meta(extra_json_schema={"const": True})]
    api_credits: Annotated[Count, Meta(description="API credits that the request would cost now.")]
    lead_credits: Annotated[Count, Meta(description="Lead credits that the request would cost now.")]


class SearchQuote(Quote):
    """The price of a page, if `dry_run` was asked for."""

    total_results: Annotated[Count, Meta(description="All matches.")]


class EnrichQuote(Quote):
    """The price of an enrichment, if `dry_run` was asked for."""

    found: Annotated[Count, Meta(description="Leads found, each counted once.")]
    on_lists: Annotated[
        dict[str, Count],
        Meta(description="How many of the domains are on each list of the account; lists without any are left out."),
    ]


# --- an enrichment ------------------------------------------------------------------------------

SentDomain = Annotated[str, Meta(description="The domain as you sent it.")]
Message = Annotated[str, Meta(description="What happened, as a text for people.")]


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
        list[EnrichItem], Meta(min_length=1, description="One item per domain, in the order of the request.")
    ]


# --- evidence -----------------------------------------------------------------------------------


class SightingOnPage(ResponseBody):
    """A value as a page showed it."""

    page: Annotated[
        str,
        Meta(
            description="URL of the page; or, for a value of another source, who says it: "
            "`imported from FILE on DATE`, `Overture, 2026-10, LICENCE`."
        ),
    ]
    method: Annotated[
        str, Meta(description="How the page contained it, such as `mailto` or `text`; or `import`, `place`, `site`.")
    ]
    first_seen: Annotated[Time, Meta(description="Time of the oldest capture of the page that contains it.")]
    last_seen: Annotated[Time, Meta(description="Newest one.")]


class EvidentValue(ResponseBody):
    """A value of a lead."""

    value: str
    seen: Annotated[
        list[SightingOnPage],
        Meta(
            max_length=MAX_SIGHTINGS,
            description="Pages that contained it, newest first. Empty if the lead does not come from web pages that "
            "we read.",
        ),
    ]


class EvidenceResponse(ResponseBody):
    """Show where and when each address, number and technology of a lead was seen."""

    domain: Annotated[str, Meta(description="The domain under which the lead is stored.")]
    emails: Annotated[list[EvidentValue], Meta(description="The addresses in `emails`, in the same order.")]
    phones: Annotated[list[EvidentValue], Meta(description="The numbers in `phones`, in the same order.")]
    technologies: Annotated[
        list[TechnologyDetail],
        Meta(description="The technologies in `technologies` of which something is known, in the same order."),
    ]


def evidence_response(evidence: Evidence) -> EvidenceResponse:
    """The values of a lead, each with where and when it was seen."""

    def values(field: str) -> list[EvidentValue]:
        return [
            EvidentValue(value=value, seen=[_sighting(one) for one in seen]) for value, seen in evidence.values[field]
        ]

    return EvidenceResponse(
        domain=evidence.domain,
        emails=values("emails"),
        phones=values("phones"),
        technologies=msgspec.convert(evidence.technologies, list[TechnologyDetail]),
    )


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

    value: Annotated[str, Meta(description="The value to send in a filter or directive.")]
    name: Annotated[str, Meta(description="Display name.")]
    matched: (
        Annotated[
            str,
            Meta(
                description="The alias or short code that matches `q`; null if the name or value matches exactly or "
                "nearly. Aliases of places and languages are in lower case, without accents."
            ),
        ]
        | None
    )
    country: Annotated[str, Meta(description=f"Of {' and '.join(NARROWED)}: alpha-3 code.")] | UnsetType | None = UNSET
    state: (
        Annotated[str, Meta(description="For cities: the value for the filter `state`; null if it is unknown.")]
        | UnsetType
        | None
    ) = UNSET
    categories: Annotated[list[str], Meta(description="Of technologies: their categories.")] | UnsetType = UNSET
    detected: (
        Annotated[
            bool,
            Meta(
                description="Of technologies: whether a rule detects it on web pages. Of the others, only leads that "
                "were imported can have it."
            ),
        ]
        | UnsetType
    ) = UNSET


class ValuesResponse(ResponseBody):
    """Values that complete a text."""

    field: Annotated[str, Meta(extra_json_schema={"enum": list(FIELDS)})]
    values: Annotated[list[KnownValueShown], Meta(max_length=MAX_SHOWN, description="The values, best matches first.")]
    more: Annotated[bool, Meta(description="Whether more values match than are returned.")]


def values_response(request: ValuesRequest, values: list[CompletedValue], more: bool) -> ValuesResponse:
    """The values in their order; what is not known of one is null."""
    details = DETAILS.get(request.kind, ())
    return ValuesResponse(field=request.field, values=[_known_value(value, details) for value in values], more=more)


def _known_value(value: CompletedValue, details: tuple[str, ...]) -> KnownValueShown:
    shown: dict[str, Any] = {name: getattr(value.known, name) for name in details}
    if "categories" in details:
        shown["detected"] = value.known.value in detected_technologies()
    return KnownValueShown(value=value.known.value, name=value.known.name, matched=value.alias, **shown)
