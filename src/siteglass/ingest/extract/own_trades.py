"""The trades that a page names for its site, for the merge to decide: see `corpus.trade_rules`."""

from __future__ import annotations

from siteglass.corpus.trade_rules import SiteWords, candidates
from siteglass.ingest.extract.page import Page
from siteglass.ingest.extract.schema_types import organisations, types_of
from siteglass.ingest.extract.texts import Texts
from siteglass.ingest.facts import TradeSighting

_ARTICLES = frozenset({"Article", "NewsArticle", "BlogPosting", "LiveBlogPosting", "Report", "ScholarlyArticle"})


def own_trades(
    page: Page,
    texts: Texts,
    *,
    name: str,
    domain: str,
    paths: tuple[str, ...],
    language: str,
    service_types: tuple[str, ...],
    is_key_page: bool,
) -> tuple[TradeSighting, ...]:
    """Of pages that are not key pages only what they say of the site: types of schema.org, name and host. Their titles
    say what an article is about."""
    kinds = {kind for node in page.json_ld for kind in types_of(node)}
    said = SiteWords(
        name=name,
        domain=domain,
        language=language,
        schema_types=[kind for node in organisations(page.json_ld) for kind in types_of(node)],
        service_type=service_types[0] if service_types else "",
        is_article="article:published_time" in page.metas or not _ARTICLES.isdisjoint(kinds),
    )
    if is_key_page:
        said = said._replace(
            title=texts.title,
            heading=texts.heading,
            subheadings=[text for text in texts.headings if text != texts.heading],
            description=texts.description,
            text=texts.main,
            whole_text=page.text,
            keywords=page.metas.get("keywords", "").split(",", 10),
            paths=paths,
        )
    return tuple([TradeSighting(*one) for one in candidates(said)])
