"""Kinds of words and phrases. The lexicon keeps them as strings; a kind that is not listed here is an error there."""

from __future__ import annotations

from enum import StrEnum


class TokenKind(StrEnum):
    """What a word of the sentence looks like, before anybody knows what it means."""

    WORD = "word"
    NUMBER = "number"
    DATE = "date"
    OPERATOR = "operator"
    SIGN = "sign"
    PATH = "path"
    MAILBOX = "mailbox"
    """ "info@", without a domain."""
    WITH = "with"
    """ "w/"."""
    WITHOUT = "without"
    """ "w/o", and a "-" or "!" that leans on the next word."""
    ELIDED = "elided"
    """ "l'", "dell'": an article that leans on the next word."""
    LITERAL = "literal"
    """A directive."""


class Role(StrEnum):
    """What a phrase can mean, and what it means in the end."""

    UNKNOWN = "unknown"
    """Nothing that is known, or nothing yet."""

    # --- as it is written ---
    NUMBER = "number"
    DATE = "date"
    OPERATOR = "operator"
    SIGN = "sign"
    PATH = "path"
    MAILBOX = "mailbox"

    # --- places and languages ---
    COUNTRY = "country"
    STATE = "state"
    CITY = "city"
    REGION = "region"
    SUBREGION = "subregion"
    GROUP = "group"
    """Countries with a name, such as DACH."""
    NATIONALITY = "nationality"
    LANGUAGE = "language"
    SPOKEN = "spoken"
    """A language and a word for it: "German-speaking"."""

    # --- the business, and what it uses ---
    TECHNOLOGY = "technology"
    CATEGORY = "category"
    SERVICE_TYPE = "service_type"
    TRADE = "trade"
    LAW_FIRM = "law_firm"
    AGENCY_OF = "agency_of"
    """An agency and what it offers in one word: "Werbeagentur"."""
    GENERIC = "generic"
    """A noun for any lead: "companies"."""
    SHOP_WORD = "shop_word"
    SITE_WORD = "site_word"
    OFFERING_HEAD = "offering_head"
    """A noun for those that offer what is before it: "provider"."""
    TOOL_NOUNS = "tool_nouns"
    """ "software", "plugin"."""

    # --- what a site has ---
    CONTACT = "contact"
    PAGE_NAME = "page_name"
    """A page only before a PAGE_WORD: "pricing"."""
    PAGE_WHOLE = "page_whole"
    """A page by itself: "pricing page"."""
    PAGE_WORD = "page_word"
    FLAG_NOUNS = "flag_nouns"
    """What a good site has: "sitemap"."""
    FLAG_BAD = "flag_bad"
    FLAG_GOOD = "flag_good"

    # --- vague words ---
    SLOW = "slow"
    VERY_SLOW = "very_slow"
    FAST = "fast"
    POOR_SEO = "poor_seo"
    GOOD_SEO = "good_seo"
    EXCELLENT_SEO = "excellent_seo"
    HEAVY_SPENDER = "heavy_spender"
    LOW_SPENDER = "low_spender"
    RUNS_ADS = "runs_ads"
    NO_ADS = "no_ads"
    RECENT = "recent"
    THIS_WEEK = "this_week"
    THIS_YEAR = "this_year"

    # --- verbs and prepositions ---
    USING = "using"
    """What follows is what a site uses or has: "with"."""
    USING_AFTER = "using_after"
    OFFERING = "offering"
    """What follows is what a site offers: "selling"."""
    OFFERING_AFTER = "offering_after"
    PLACE_PREPOSITION = "place_preposition"
    LANGUAGE_MARKER = "language_marker"
    """ "in the language", "speaking"."""

    # --- joints and denials ---
    AND = "and"
    OR = "or"
    COMMA = "comma"
    BREAK = "break"
    """A sign that ends a clause."""
    BUT = "but"
    NEGATION = "negation"
    NEGATION_AFTER = "negation_after"
    EXCEPTION = "exception"
    EXCEPTION_AFTER = "exception_after"
    DOUBLE_NEGATION = "double_negation"
    """Two denials in one phrase: "never without"."""
    INDIFFERENT = "indifferent"
    """ "with or without"."""
    NOT_BOTH = "not_both"

    # --- numbers ---
    NUMBER_WORD = "number_word"
    UNIT = "unit"
    MONTH = "month"
    GREATER = "greater"
    AT_LEAST = "at_least"
    LESS = "less"
    AT_MOST = "at_most"
    EQUAL = "equal"
    AROUND = "around"
    BETWEEN = "between"
    GREATER_AFTER = "greater_after"
    AT_LEAST_AFTER = "at_least_after"
    LESS_AFTER = "less_after"
    AT_MOST_AFTER = "at_most_after"
    AROUND_AFTER = "around_after"
    PER_MONTH = "per_month"
    PER_YEAR = "per_year"
    SPENDING = "spending"
    SCORE = "score"
    LOAD_TIME = "load_time"
    CRAWLED = "crawled"
    SINCE = "since"
    WITHIN_LAST = "within_last"

    # --- what makes no condition ---
    FUNCTION = "function"
    """A small word that says nothing by itself."""
    REQUESTS = "requests"
    """ "show me"."""
    LABEL = "label"
    """The name of a field before a colon."""
    PROTECTED = "protected"
    """A phrase that is part of a noun, whatever its words mean elsewhere."""
    ABOUT_ME = "about_me"
    """The author of the sentence: "my agency"."""
    CORRECTION = "correction"
    """What is before it is replaced by what follows: "no wait"."""
    WISH = "wish"
    """Something that no field answers; its value says what."""
    CHANGE = "change"
    """A site began or stopped using what is beside it: "switched from"."""
    COUNTING = "counting"
    """What a number counts that no search knows: "locations"."""
    JUDGEMENT = "judgement"
    INSTRUCTIONS = "instructions"
    """What to do with the leads: "export"."""
    SORTING = "sorting"
    DISTANCE = "distance"
    SOCIAL_IN_GENERAL = "social_in_general"


PLACES = frozenset((Role.COUNTRY, Role.STATE, Role.CITY, Role.REGION, Role.SUBREGION, Role.GROUP, Role.NATIONALITY))
ENTITIES = PLACES | {Role.LANGUAGE, Role.SPOKEN, Role.TECHNOLOGY, Role.CATEGORY, Role.SERVICE_TYPE}
# "or more", "and less": only after a number.
AFTER_NUMBERS = frozenset(
    (Role.GREATER_AFTER, Role.AT_LEAST_AFTER, Role.LESS_AFTER, Role.AT_MOST_AFTER, Role.AROUND_AFTER)
)
# Words that exclude what is beside them.
DENYING = frozenset((Role.NEGATION, Role.EXCEPTION, Role.NEGATION_AFTER, Role.EXCEPTION_AFTER, Role.DOUBLE_NEGATION))
FLAGS = frozenset((Role.FLAG_NOUNS, Role.FLAG_BAD, Role.FLAG_GOOD))
PAGES = frozenset((Role.PAGE_NAME, Role.PAGE_WHOLE, Role.PAGE_WORD))
