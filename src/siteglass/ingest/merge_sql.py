"""The statements of the merge, in Spark SQL: which captures speak for a domain, and what they say together.

    facts --SIGNALS--> one row a domain: is it a lead, does it have robots.txt
    facts --SPEAKING, CROWDED--> at most MAX_PAGES pages of each domain --MERGED--> one row a domain

Every order is total, so that the same facts make the same leads wherever rows happen to lie.
"""

from __future__ import annotations

from siteglass.lead import SOCIAL_NETWORKS

MAX_PAGES = 50
MAX_VALUES = 50
MAX_TEXT_CHARS = 20_000
MAX_SHORT_CHARS = 512
MAX_DESCRIPTION_CHARS = 2_000
MAX_TIME_MS = 2**42
MAX_LOAD_TIME_MS = 2**31

_NAME_BASES = ("json_ld", "og_site_name", "title", "domain")
_GEO_BASES = ("json_ld", "address", "phone", "cctld", "gazetteer", "language")
_NEWEST = "struct(captured_at_ms, digest, url, archive, `offset`)"


def _array(values: tuple[str, ...]) -> str:
    return "array(" + ", ".join(f"'{value}'" for value in values) + ")"


def _place(bases: tuple[str, ...], column: str) -> str:
    """How good a basis is, 1 the best; one that is not among them is the worst."""
    return f"coalesce(nullif(array_position({_array(bases)}, {column}), 0), 99)"


# The newest home page speaks for the whole domain, "/" before others such as "/en": where it is parked,
# leads elsewhere or asks not to be listed, there is no lead. One that could not be fetched, or is one of those error
# pages that do not say so, says nothing, and an older one counts.
SIGNALS = f"""
SELECT domain, speaking, has_robots, robots_audits,
    IF(robots_sitemap IS NULL AND own_sitemap IS NULL, NULL,
        coalesce(robots_sitemap, false) OR coalesce(own_sitemap, false)) AS has_sitemap,
    CASE
        WHEN length(domain) > 253 OR NOT domain RLIKE '^[a-z0-9_-]+(\\\\.[a-z0-9_-]+)+$' THEN 'name'
        WHEN home.kind = 'parked' THEN 'parked'
        WHEN home.kind = 'redirect' THEN 'alias'
        WHEN home.noindex THEN 'noindex'
        WHEN speaking > 0 THEN ''
        WHEN is_parked THEN 'parked'
        WHEN is_alias THEN 'alias'
        WHEN is_unlisted THEN 'noindex'
        ELSE 'no_page'
    END AS dropped
FROM (
    SELECT domain,
        count_if(kind = 'page' AND NOT noindex) AS speaking,
        max_by(struct(kind, noindex), struct(path = '/', {_NEWEST})) FILTER (
            WHERE is_home AND (kind IN ('page', 'parked') OR (kind = 'redirect' AND redirects_to != ''))) AS home,
        max_by(has_robots, {_NEWEST}) FILTER (WHERE kind = 'robots' AND has_robots IS NOT NULL) AS has_robots,
        max_by(array_sort(map_entries(audits)), {_NEWEST}) FILTER (WHERE kind = 'robots' AND has_robots IS NOT NULL)
            AS robots_audits,
        max_by(has_sitemap, {_NEWEST}) FILTER (WHERE kind = 'robots' AND has_sitemap IS NOT NULL) AS robots_sitemap,
        max_by(has_sitemap, {_NEWEST}) FILTER (WHERE kind = 'sitemap' AND has_sitemap IS NOT NULL) AS own_sitemap,
        bool_or(kind = 'parked') AS is_parked,
        bool_or(kind = 'redirect' AND redirects_to != '') AS is_alias,
        bool_or(noindex) AS is_unlisted
    FROM {{facts}}
    WHERE captured_at_ms BETWEEN 0 AND {MAX_TIME_MS - 1}
    GROUP BY domain
)
"""  # noqa: S608 - only our own words

# What a page brings; its first five say its rank among those of its domain. Maps become lists: they have no order.
_PAGE = {
    "later": "NOT is_home",
    "priority": "IF(is_home, CAST(path != '/' AS INT), priority)",
    "age": "-captured_at_ms",
    "digest": "digest",
    "url": "url",
    "archive": "archive",
    "at": "`offset`",
    "captured_at_ms": "captured_at_ms",
    "first_seen_ms": "captured_at_ms",
    "last_seen_ms": "captured_at_ms",
    "captures": "1L",
    "path": "path",
    "title": f"substring(title, 1, {MAX_SHORT_CHARS})",
    "description": f"substring(description, 1, {MAX_DESCRIPTION_CHARS})",
    "business_name": f"substring(business_name, 1, {MAX_SHORT_CHARS})",
    "name_basis": "name_basis",
    "text": f"substring(text, 1, {MAX_TEXT_CHARS})",
    "keywords": "keywords",
    "language": "language",
    "favicon": "favicon",
    "emails": "array_distinct(emails)",
    "phones": "array_distinct(phones)",
    "social_links": "map_entries(social_links)",
    "other_profiles": "other_profiles",
    "country": "country",
    "state": "state",
    "city": "city",
    "geo_basis": "geo_basis",
    "technologies": "array_distinct(technologies)",
    "offers": "array_distinct(offers)",
    "service_type": "get(service_types, 0)",
    "pages": "pages",
    "links": "links",
    "secure": "secure",
    "responsive": "responsive",
    "has_schema": "has_schema",
    "has_heading": "has_heading",
    "has_description": "has_description",
    "load_time_ms": "load_time_ms",
    "audits": "map_entries(audits)",
}
_RANK = "struct(page.later, page.priority, page.age, page.digest, page.url, page.archive, page.at)"

# `priority` is a function of Python that the session knows.
SPEAKING = f"""
SELECT domain, struct({", ".join(f"{value} AS {name}" for name, value in _PAGE.items())}) AS page
FROM (
    SELECT *, {{priority}}(path) AS priority FROM {{facts}} {{which}}
    WHERE kind = 'page' AND NOT noindex AND captured_at_ms BETWEEN 0 AND {MAX_TIME_MS - 1}
)
"""  # noqa: S608 - only our own words
CROWDS = f"SELECT domain FROM {{signals}} WHERE dropped = '' AND speaking > {MAX_PAGES}"  # noqa: S608 - only our own words
FEW = "LEFT ANTI JOIN {crowds} USING (domain)"
MANY = "LEFT SEMI JOIN {crowds} USING (domain)"


def _page_with(page: str, **changed: str) -> str:
    """A page of the same form with other values."""
    values = (f"'{name}', {changed.get(name, f'{page}.{name}')}" for name in _PAGE)
    return f"named_struct({', '.join(values)})"


# Domains of more captures than are read. Both steps are done for each partition first, before rows are moved: one
# domain of a million pages makes no task of a million rows.
CROWDED = f"""
SELECT domain, page FROM (
    SELECT domain, page, row_number() OVER (PARTITION BY domain ORDER BY {_RANK}) AS number FROM (
        SELECT domain, {_page_with("best", first_seen_ms="first", last_seen_ms="last", captures="captures")} AS page
        FROM (
            SELECT domain, min_by(page, {_RANK}) AS best, min(page.first_seen_ms) AS first,
                max(page.last_seen_ms) AS last, sum(page.captures) AS captures
            FROM {{many}}
            GROUP BY domain, page.digest
        )
    )
) WHERE number <= {MAX_PAGES}
"""  # noqa: S608 - only our own words

_SAME = "filter(found, y -> y.digest = x.digest)"
# Equal bodies count once; the best of them stands, with the times of all.
_ONCE = f"""
IF(size(array_distinct(transform(found, x -> x.digest))) = size(found), found,
    transform(filter(found, (x, i) -> array_position(transform(found, y -> y.digest), x.digest) = i + 1), x -> {
    _page_with(
        "x",
        first_seen_ms=f"array_min(transform({_SAME}, y -> y.first_seen_ms))",
        last_seen_ms=f"array_max(transform({_SAME}, y -> y.last_seen_ms))",
        captures=f"aggregate({_SAME}, 0L, (sum, y) -> sum + y.captures)",
    )
}))
"""


def _kept(values: str) -> str:
    """Those of a list that fit, each once, as many as fit."""
    return f"slice(filter(array_distinct({values}), v -> length(v) BETWEEN 1 AND {MAX_SHORT_CHARS}), 1, {MAX_VALUES})"


def _first(items: str, key: str) -> str:
    """The value of the first of `items` in the order of `key`, a list of expressions of it that ends in the value."""
    return f"coalesce(get(array_sort(transform({items}, {key})), 0).value, '')"


def _geo(items: str, column: str) -> str:
    """By the best basis, then by most pages, then by name."""
    kinds = f"array_distinct(transform({items}, a -> struct(a.basis, a.{column} AS value)))"
    votes = f"-size(filter({items}, a -> a.basis = k.basis AND a.{column} = k.value))"
    return _first(kinds, f"k -> struct(k.basis, {votes} AS votes, k.value AS value)")


def _sightings(kind: str) -> str:
    fields = "x.url, e.method, x.first_seen_ms, x.last_seen_ms, x.archive, x.at, x.captures"
    kept = f"filter(x.{kind}s, e -> length(e.value) BETWEEN 1 AND {MAX_SHORT_CHARS})"
    return f"transform({kept}, e -> struct('{kind}' AS kind, e.value, {fields}))"


def _home_only(column: str) -> str:
    return f"IF(has_home, h.{column}, NULL) AS {column}"


_SHORT_H = "IF(length(h.{0}) <= " + str(MAX_SHORT_CHARS) + ", h.{0}, '') AS {0}"
_VOTED_TYPE = "k -> struct(-size(filter(types, t -> t = k)) AS votes, array_position(types, k) AS place, k AS value)"
_VOTED_LANGUAGE = """k -> struct(-aggregate(filter(p, x -> x.language = k), 0L, (sum, x) -> sum + length(x.text))
    AS weight, k AS value)"""
_VOTED_OFFER = "k -> struct(-size(filter(offered, o -> o = k)) AS votes, k AS value)"
_NAMED = f"(x, i) -> struct({_place(_NAME_BASES, 'x.name_basis')} AS basis, i AS place, x.business_name AS value)"
_PROFILE = "struct(k AS key, get(filter(profiles, e -> e.key = k), 0).value AS value)"

# One lead a domain. What only one page can say is said by `h`, the home page. Where none was read, the page of the
# shortest path stands for it; of flags only `secure` is then known, which any page shows for the site.
MERGED = f"""
SELECT domain, crawled_at_ms, newest_at_ms, url, business_name, title, description, text, keywords, language, favicon,
    social_links, other_profiles, country, state,
    {_geo("filter(geo, a -> a.country = country AND a.city != '' AND (a.state IN ('', state) OR state = ''))", "city")}
        AS city,
    technologies, offers, service_type, pages, links, load_time_ms, secure, responsive, has_schema, has_heading,
    has_description, has_home, audits, sightings
FROM (
SELECT *, {_geo("filter(geo, a -> a.country = country AND a.state != '')", "state")} AS state
FROM (
SELECT domain, h.captured_at_ms AS crawled_at_ms, array_max(transform(p, x -> x.last_seen_ms)) AS newest_at_ms,
    {_SHORT_H.format("url")}, {_SHORT_H.format("favicon")}, h.title, h.description,
    {_first("filter(p, x -> x.business_name != '')", _NAMED)} AS business_name,
    substring(array_join(filter(transform(p, x -> x.text), t -> t != ''), '\\n'), 1, {MAX_TEXT_CHARS}) AS text,
    {_kept("h.keywords")} AS keywords,
    {_first("filter(array_distinct(transform(p, x -> x.language)), v -> v != '')", _VOTED_LANGUAGE)} AS language,
    transform(array_intersect({_array(tuple(sorted(SOCIAL_NETWORKS)))}, transform(profiles, e -> e.key)),
        k -> {_PROFILE}) AS social_links,
    {_kept("flatten(transform(p, x -> x.other_profiles))")} AS other_profiles,
    geo, {_geo("geo", "country")} AS country,
    slice(array_sort(filter(array_distinct(used), t -> length(t) BETWEEN 1 AND {MAX_SHORT_CHARS} AND
        ((has_home AND array_contains(h.technologies, t)) OR size(filter(used, u -> u = t)) >= 2))),
        1, {MAX_VALUES}) AS technologies,
    slice(transform(array_sort(transform(array_distinct(offered), {_VOTED_OFFER})), o -> o.value), 1, {MAX_VALUES})
        AS offers,
    {_first("array_distinct(types)", _VOTED_TYPE)} AS service_type,
    {_kept("h.pages")} AS pages, {_kept("h.links")} AS links,
    IF(has_home AND h.load_time_ms BETWEEN 0 AND {MAX_LOAD_TIME_MS - 1}, h.load_time_ms, NULL) AS load_time_ms,
    h.secure, {", ".join(map(_home_only, ("responsive", "has_schema", "has_heading", "has_description")))},
    has_home, {_home_only("audits")},
    flatten(transform(p, x -> concat({_sightings("email")}, {_sightings("phone")}))) AS sightings
FROM (
SELECT *,
    flatten(transform(p, x -> x.technologies)) AS used,
    filter(flatten(transform(p, x -> x.offers)), o -> length(o) BETWEEN 1 AND {MAX_SHORT_CHARS}) AS offered,
    filter(transform(p, x -> x.service_type), t -> length(t) BETWEEN 1 AND {MAX_SHORT_CHARS}) AS types,
    filter(flatten(transform(p, x -> x.social_links)), e -> length(e.value) BETWEEN 1 AND {MAX_SHORT_CHARS})
        AS profiles,
    transform(filter(p, x -> x.country != ''), x -> struct(
        {_place(_GEO_BASES, "x.geo_basis")} AS basis, x.country, x.state,
        substring(x.city, 1, {MAX_SHORT_CHARS}) AS city
    )) AS geo
FROM (
SELECT domain, p, has_home,
    IF(has_home, p[0], p[array_min(transform(p, (x, i) -> struct(length(x.path) AS chars, i AS place))).place]) AS h
FROM (
SELECT domain, p, NOT p[0].later AS has_home
FROM (
SELECT domain, {_ONCE} AS p
FROM (
SELECT domain, array_sort(collect_list(page)) AS found FROM {{chosen}} GROUP BY domain
)))))))
"""  # noqa: S608 - only our own words
