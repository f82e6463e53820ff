"""Made-up leads: repeatable, unique, made of known values, and skewed and tied together as promised."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import product
from math import log
from pathlib import Path
from statistics import correlation, mean, median

import msgspec
import pytest

from siteglass.corpus.lead import SOCIAL_NETWORKS, TRADE_SOURCES, Lead
from siteglass.corpus.lead_files import read_lines, read_parquet
from siteglass.corpus.trade_rules import with_trades
from siteglass.query.detected import detected_technologies
from siteglass.query.trades import trades as known_trades
from siteglass.query.vocabulary import City, vocabulary
from siteglass_demo.commands import last_reason
from siteglass_demo.leads import COMPANIES, EPOCH_MS, Market, generate, names, write_demo
from siteglass_demo.leads.places import country_of, weighted
from siteglass_demo.leads.trades import LANGUAGES, trades

FLAGS = ("secure", "responsive", "has_sitemap", "has_schema", "has_robots", "has_heading", "has_description")
_ROLES = (
    "info contact hello sales support office admin enquiries team marketing jobs press kontakt service bewerbung "
    "vertrieb accueil commercial recrutement contacto administracion ventas comercial contato atendimento vendas "
    "financeiro geral amministrazione commerciale segreteria administratie verkoop"
)
ROLES = frozenset(_ROLES.split())


@cache
def many() -> tuple[Lead, ...]:
    return tuple(generate(20_000, seed=7))


def share(holds: Callable[[Lead], object]) -> float:
    return sum(bool(holds(lead)) for lead in many()) / len(many())


def of_type(service_type: str) -> list[Lead]:
    return [lead for lead in many() if lead.service_type == service_type and lead.technologies is not None]


def share_with(technology: str, some: list[Lead]) -> float:
    return sum(technology in (lead.technologies or ()) for lead in some) / len(some)


def mean_score(holds: Callable[[Lead], object]) -> float:
    return mean(lead.score for lead in many() if lead.score is not None and holds(lead))


def test_a_seed_always_gives_the_same_leads() -> None:
    assert list(generate(50, seed=1)) == list(generate(50, seed=1))
    assert list(generate(50, seed=1)) != list(generate(50, seed=2))


def test_a_slice_is_the_same_as_in_the_whole() -> None:
    whole = list(generate(300, seed=5))
    assert list(generate(100, seed=5)) == whole[:100]
    assert list(generate(20, seed=5, start=270)) == whole[270:290]


def test_the_first_lead_of_a_seed_stays_as_it_is() -> None:
    (lead,) = generate(1, seed=1)
    assert lead.domain == "upmere-point-physio.com"


def test_domains_do_not_repeat() -> None:
    assert len({lead.domain for lead in many()}) == len(many())


def test_names_are_told_apart_whatever_the_trade() -> None:
    """Two words and a tail come first in a domain; no tail and trade read like another tail and trade."""
    words = {""} | {names.ascii_word(trade.word) for trade in trades()}
    words |= {names.ascii_word(trade.label(language).split()[0]) for trade in trades() for language in LANGUAGES}
    ends = [tail + word for tail, word in product(("", *names.TAILS), words)]
    assert len(ends) == len(set(ends))


@pytest.mark.parametrize("start", [70_000, 600_000, 5_000_000])
def test_names_do_not_repeat_further_on(start: int) -> None:
    for culture in ("english", "japanese"):
        found = {names.pair(number, 9, culture) for number in range(start, start + 30_000)}
        assert len(found) == 30_000
        assert found.isdisjoint(names.pair(number, 9, culture) for number in range(30_000))


def test_more_leads_than_there_are_names_are_refused() -> None:
    assert names.capacity() > 10_000_000
    with pytest.raises(ValueError, match="a seed has"):
        next(generate(1, seed=1, start=names.capacity()))
    next(generate(1, seed=2**32 - 1))
    for seed in (-1, 2**32):
        with pytest.raises(ValueError, match="a seed is"):
            next(generate(1, seed=seed))


def test_every_lead_keeps_to_the_bounds_of_the_record() -> None:
    for lead in many()[:3_000]:
        assert msgspec.convert(msgspec.to_builtins(lead), Lead) == lead


def test_values_are_canonical() -> None:
    known = vocabulary()
    cities = {(city.name, city.country, city.state) for city in known.cities()}
    places = {(city.name, city.country) for city in known.cities()}
    technologies, categories = known.technologies(), set(known.values("category"))
    for lead in many():
        assert not lead.service_type or lead.service_type in known.values("service_type")
        assert not lead.country or known.country_alpha2(lead.country)
        assert not lead.state or lead.state in known.states_of(lead.country)
        assert not lead.city or (lead.city, lead.country) in places
        assert not (lead.city and lead.state) or (lead.city, lead.country, lead.state) in cities
        assert not lead.language or known.resolve("language", lead.language) == (lead.language,)
        assert set(lead.offers) <= categories
        used = {category for name in lead.technologies or () for category in technologies[name]}
        assert set(lead.categories_uses) == used


def test_technologies_are_those_that_rules_detect() -> None:
    """A search for others would find made-up leads only, and nothing in real data."""
    companies = [lead for _, group in read_parquet(COMPANIES) for lead in group]
    used = {name for lead in (*many(), *companies) for name in lead.technologies or ()}
    assert used <= detected_technologies()
    assert len(used) > 300


def test_shapes_are_those_of_the_record() -> None:
    for lead in many():
        assert re.fullmatch(r"[a-z0-9-]+(\.[a-z]+)+", lead.domain)
        assert set(lead.social_links) <= set(SOCIAL_NETWORKS)
        assert len(lead.keywords) <= 20
        assert len(lead.text.split()) <= 260
        assert all(re.fullmatch(r"(/[a-z0-9-]+)+", path) for path in lead.pages)
        assert lead.links == tuple(lead.url.rstrip("/") + path for path in lead.pages)
        assert all(re.fullmatch(r"\+\d[\d ()-]{6,}\d", phone) for phone in lead.phones)
        assert EPOCH_MS - 549 * 86_400_000 < lead.crawled_at_ms < EPOCH_MS
        assert lead.updated_at_ms is None or lead.updated_at_ms <= lead.crawled_at_ms


def test_personal_addresses_are_those_that_are_no_role() -> None:
    for lead in many():
        personal = tuple(address for address in lead.emails if address.split("@")[0] not in ROLES)
        assert lead.emails_personal == personal
        assert len(set(lead.emails)) == len(lead.emails)


@pytest.mark.parametrize(
    ("name", "holds", "low", "high"),
    [
        ("no address", lambda lead: not lead.emails, 0.32, 0.38),
        ("only role addresses", lambda lead: lead.emails and not lead.emails_personal, 0.25, 0.40),
        ("no phone", lambda lead: not lead.phones, 0.37, 0.43),
        ("technologies not read", lambda lead: lead.technologies is None, 0.05, 0.07),
        ("no technology found", lambda lead: lead.technologies == (), 0.03, 0.05),
        ("no score", lambda lead: lead.score is None, 0.03, 0.07),
        ("no spending known", lambda lead: lead.spending is None, 0.06, 0.10),
        ("nothing spent", lambda lead: lead.spending == 0, 0.40, 0.65),
        ("much spent", lambda lead: (lead.spending or 0) >= 10_000, 0.01, 0.06),
        ("country unknown", lambda lead: not lead.country, 0.04, 0.06),
        ("city unknown", lambda lead: not lead.city, 0.12, 0.22),
        ("language unknown", lambda lead: not lead.language, 0.02, 0.04),
        ("WordPress", lambda lead: "WordPress" in (lead.technologies or ()), 0.30, 0.45),
        ("letters beyond ASCII", lambda lead: not lead.text.isascii(), 0.25, 0.55),
        ("Chinese or Japanese", lambda lead: re.search("[\u3040-\u30ff\u4e00-\u9fff]", lead.title), 0.03, 0.09),
        ("crawled in the last 90 days", lambda lead: EPOCH_MS - lead.crawled_at_ms < 90 * 86_400_000, 0.35, 0.6),
    ],
)
def test_shares(name: str, holds: Callable[[Lead], object], low: float, high: float) -> None:
    assert low < share(holds) < high, name


@pytest.mark.parametrize("flag", FLAGS)
def test_flags_have_three_states_and_move_with_the_score(flag: str) -> None:
    assert {getattr(lead, flag) for lead in many()} == {True, False, None}
    known = [
        (float(lead.score), float(getattr(lead, flag)))
        for lead in many()
        if lead.score is not None and getattr(lead, flag) is not None
    ]
    scores, values = zip(*known, strict=True)
    assert correlation(scores, values) > (0.2 if flag in ("secure", "has_sitemap", "has_schema") else 0.1)


def test_the_score_is_bell_shaped_and_falls_with_the_load_time() -> None:
    scores = [lead.score for lead in many() if lead.score is not None]
    assert 50 < mean(scores) < 65
    assert abs(mean(scores) - median(scores)) < 2
    assert {min(scores), max(scores)} == {0, 100}
    both = [(float(x.score), log(x.load_time_ms)) for x in many() if x.score is not None and x.load_time_ms]
    assert correlation(*map(list, zip(*both, strict=True))) < -0.3


def test_the_platform_moves_score_and_load_time() -> None:
    plain = mean_score(lambda lead: "WordPress" in (lead.technologies or ()))
    assert mean_score(lambda lead: "Wix" in (lead.technologies or ())) < plain - 8
    assert mean_score(lambda lead: "Next.js" in (lead.technologies or ())) > plain + 8

    def load(technology: str) -> float:
        return median(x.load_time_ms for x in many() if x.load_time_ms and technology in (x.technologies or ()))

    assert load("Elementor") > 1.1 * load("WordPress") > 1.5 * load("Next.js")


def test_the_kind_of_business_moves_technologies() -> None:
    shops, offices = of_type("Ecommerce"), of_type("Government")
    assert share_with("Shopify", shops) > max(0.25, 5 * share_with("Shopify", offices))
    assert share_with("Drupal", offices) > 0.1 > 5 * share_with("Drupal", shops)
    assert share_with("HubSpot", of_type("SaaS")) > 4 * share_with("HubSpot", of_type("Local Business"))


def test_the_country_moves_language_ending_and_technologies() -> None:
    germans = [lead for lead in many() if lead.country == "DEU"]
    others = [lead for lead in many() if lead.country == "USA"]
    assert sum(lead.language == "de" for lead in germans) > 0.85 * len(germans)
    assert sum(lead.domain.endswith(".de") for lead in germans) > 0.6 * len(germans)
    assert all(phone.startswith("+49 ") for lead in germans for phone in lead.phones)
    assert share_with("TYPO3 CMS", germans) > 0.05 > 10 * share_with("TYPO3 CMS", others)


def test_spending_follows_kind_and_advertising() -> None:
    def spent(holds: Callable[[Lead], object]) -> float:
        return mean(lead.spending for lead in many() if lead.spending is not None and holds(lead))

    assert spent(lambda x: x.service_type == "SaaS") > 5 * spent(lambda x: x.service_type == "Local Business")
    tagged = spent(lambda x: "Google Ads" in (x.technologies or ()))
    assert tagged > 3 * spent(lambda x: x.technologies is not None and "Google Ads" not in x.technologies)


def test_pages_and_offers_follow_the_kind_of_business() -> None:
    def with_page(path: str, service_type: str) -> float:
        some = of_type(service_type)
        return sum(path in lead.pages for lead in some) / len(some)

    assert with_page("/pricing", "SaaS") > 0.4 > 0.1 > with_page("/pricing", "Government")
    assert with_page("/donate", "Non-Profit") > 0.4
    assert {offer for lead in of_type("Agency") for offer in lead.offers} >= {"marketing", "lead_generation"}


@pytest.mark.parametrize("suffix", [".parquet", ".ndjson"])
def test_files_hold_what_is_generated(tmp_path: Path, suffix: str) -> None:
    path, told = tmp_path / f"demo{suffix}", list[int]()
    assert write_demo(path, 2_500, seed=4, on_progress=told.append) == 2_500
    assert told == [1_000, 2_000, 2_500]
    if suffix == ".parquet":
        assert [lead for _, group in read_parquet(path) for lead in group] == list(generate(2_500, seed=4))
    else:
        assert [lead for _, lead in read_lines(path)] == list(generate(2_500, seed=4))


def test_other_leads_take_the_places_of_those_left_out(tmp_path: Path) -> None:
    path, first = tmp_path / "demo.ndjson", list(generate(52, seed=4))
    assert write_demo(path, 50, seed=4, without={first[3].domain, first[7].domain}) == 50
    assert [lead for _, lead in read_lines(path)] == [*first[:3], *first[4:7], *first[8:]]


def test_a_market_decides_trade_and_place_alone() -> None:
    dental = next(trade for trade in trades() if trade.word == "Dental")
    austin = City("Austin", "USA", "TX", 974_447)
    market = Market(country_of("USA"), weighted([austin]), dental)
    leads = list(generate(30, seed=3, market=market))
    assert {(lead.country, lead.state, lead.city) for lead in leads} == {("USA", "TX", "Austin")}
    assert {lead.service_type for lead in leads} <= {"Healthcare", ""}
    assert {trade for lead in leads for trade in lead.trades} == {"dentist"}
    assert len({lead.domain for lead in leads}) == 30
    assert len({lead.technologies for lead in leads}) > 20


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"ends in \.parquet or \.ndjson"):
        write_demo(tmp_path / "demo.csv", 1, seed=1)


def test_most_leads_have_trades_and_say_where_they_were_read() -> None:
    known = set(known_trades().ids())
    for lead in many():
        assert set(lead.trades) <= known
        assert set(lead.trade_sources) == set(lead.trades)
        assert set(lead.trade_sources.values()) <= set(TRADE_SOURCES)
        assert with_trades(lead) == lead  # loading adds nothing: the index says what the leads say
    assert 0.8 < share(lambda lead: lead.trades) < 0.95


def test_the_trades_that_people_ask_for_first_are_there() -> None:
    listed = (Path(__file__).parents[1] / "testing/corpus/trades/twenty_trades.txt").read_text().splitlines()
    asked = {line.split("\t")[0] for line in listed} | {"gym", "it_services", "marketing_agency", "skincare_shop"}
    found = {trade for lead in many() for trade in lead.trades}
    assert asked | {"software_company"} <= found


def test_a_service_that_does_not_start_says_the_newest_reason_of_its_log() -> None:
    log = '{"reason": "an old one"}\n{"reason": "no index"}\n{"message": "answered"}\nTraceback: not JSON\n[1]\n'
    assert last_reason(log) == "no index"
    assert last_reason('{"message": "answered"}\n') is None
