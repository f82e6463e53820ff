"""The Explore page without a browser: what it shows, what it never shows, and what it charges."""

from __future__ import annotations

import contextlib
import html
import os
import random
import re
import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from siteglass.access.accounts import ANY_NUMBER, Plan, Preview, set_plan
from siteglass.billing.credits import Billing
from siteglass.dashboard.explore.chips import LABELS, clause_name
from siteglass.platform.postgres import Postgres
from siteglass.query.directives import parse
from siteglass.query.field import Kind
from siteglass.query.fields import ASKED
from siteglass.settings import load_settings
from testing.dashboard.explore import AUSTIN, AUSTIN_WITH_EMAIL, explore_leads
from testing.dashboard.visitors import Office, Visitor, office
from testing.slow_counts import SlowCounts

EXPLORE = "/dashboard/explore"
DENTISTS = f"{EXPLORE}?q=dentists+in+Austin"
LEADS = {lead.domain: lead for lead in explore_leads()}
PATHS = 200 if os.environ.get("SITEGLASS_LONG") == "1" else 12


@pytest.fixture(scope="module")
def explorers(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Office]:
    """A service that has leads, and its people."""
    with office(f"explore-{worker_id}", tmp_path_factory.mktemp("explore"), explore_leads()) as made:
        yield made


def plan(explorers: Office, preview: Preview = "masked", per_day: int = 200, hours: int | None = None) -> str:
    """A plan with this preview and no rate that a test could meet."""
    name = f"plan-{secrets.token_hex(4)}"
    terms = Plan(name, 10_000, 10_000, None, None, 0, 0, "USD", hours, preview, per_day)
    explorers.do(lambda postgres: set_plan(postgres, terms, actor="tests"))
    return name


def customer(explorers: Office, lead: int = 100, role: str = "owner", **terms: Any) -> tuple[int, Visitor]:
    """An account with credits, and somebody of it who is signed in."""
    account = explorers.account(plan=plan(explorers, **terms), lead=lead)
    return account, explorers.visitor(explorers.somebody(account, role))


def text_of(answer: httpx.Response) -> str:
    """What a person reads in the page's main part, in one line."""
    main = answer.text[answer.text.index("<main") :] if "<main" in answer.text else answer.text
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", main)).split())


def form_of(answer: httpx.Response) -> dict[str, str]:
    """What the button of a page sends."""
    (form,) = re.findall(r'<form method="post" action="/dashboard/explore/buy".*?</form>', answer.text, re.DOTALL)
    fields = {name: html.unescape(value) for name, value in re.findall(r'name="(\w+)" value="([^"]*)"', form)}
    assert fields.pop("token")  # which the visitor adds
    return fields


def link(answer: httpx.Response, label: str) -> str:
    """The address of the link whose text is or starts with this."""
    found = re.search(rf'<a [^>]*?href="([^"]+)"[^>]*>(?:<span[^>]*>)?\s*{re.escape(label)}', answer.text)
    assert found, f"no link {label!r} in {text_of(answer)}"
    return html.unescape(found[1])


def charges(explorers: Office, account: int) -> list[tuple[int, str, str]]:
    """The lead credits, actor and operation of each charge."""

    async def read(postgres: Postgres) -> list[tuple[int, str, str]]:
        rows = await postgres.fetch(
            "SELECT lead, actor_kind::text AS kind, operation::text AS operation FROM {schema}.ledger"
            " WHERE account_id = $1 AND kind = 'charge' ORDER BY seq",
            account,
        )
        return [(-row["lead"], row["kind"], row["operation"]) for row in rows]

    return explorers.do(read)


def balance(explorers: Office, account: int) -> int:
    """The lead credits that are left."""
    return explorers.do(lambda postgres: Billing(postgres).balance(account)).lead


# --- what is shown ------------------------------------------------------------------------------


def test_the_first_screen_has_examples_with_live_counts(explorers: Office) -> None:
    _, visitor = customer(explorers)
    shown = text_of(visitor.get(EXPLORE))
    assert "Find leads by describing them" in shown
    assert re.search(r"dentists in Austin without online booking \d+ leads?", shown)
    assert "100 lead credits" in shown


def slow_down(explorers: Office, name: str, units: int) -> None:
    """From now on a plan has so many units, and the next one only after this test."""
    explorers.do(lambda postgres: set_plan(postgres, Plan(name, 0.01 * units, units), actor="tests"))


def test_counts_of_the_first_screen_take_units(explorers: Office) -> None:
    slow_down(explorers, name := f"plan-{secrets.token_hex(4)}", 3)
    visitor = explorers.visitor(explorers.somebody(explorers.account(plan=name)))
    first, second = (text_of(visitor.get(EXPLORE)) for _ in range(2))
    assert re.search(r"without online booking \d+ leads?", first)
    assert "without online booking" in second
    assert not re.search(r"without online booking \d+ leads?", second)


def test_files_of_a_purchase_take_units(explorers: Office) -> None:
    name = plan(explorers)
    visitor = explorers.visitor(explorers.somebody(explorers.account(plan=name, lead=100)))
    answer = visitor.post(f"{EXPLORE}/buy", form_of(visitor.get(f"{DENTISTS}&n=10")))
    file = f"{EXPLORE}/bought?bought={answer.headers['location'].rpartition('bought=')[2]}"
    slow_down(explorers, name, 1)
    assert [visitor.get(file).status_code for _ in range(2)] == [200, 429]


def test_words_become_chips_counts_and_rows(explorers: Office) -> None:
    _, visitor = customer(explorers)
    answer = visitor.get(f"{DENTISTS}+not+using+Shopify")
    shown = text_of(answer)
    assert "Country: United States" in shown
    assert "City: Austin" in shown
    assert "not Uses: Shopify" in shown
    assert f"{AUSTIN} leads" in shown
    assert "Get 20 leads · 16 credits" in shown
    assert shown.count("Austin, TX") == 20
    assert "No email · 1 phone · free +1 512 555 0024" in shown


@pytest.mark.promise("explore.at_once")
def test_leads_are_shown_before_their_number(tmp_path: Path, worker_id: str) -> None:
    with (
        SlowCounts(load_settings().opensearch_urls[0]) as engine,
        office(f"slow-{worker_id}", tmp_path, explore_leads(), total_wait_s=0.05, opensearch_urls=engine.urls) as made,
    ):
        account, visitor = customer(made)
        bought = visitor.post(f"{EXPLORE}/buy", form_of(visitor.get(f"{DENTISTS}&n=10")))
        assert bought.status_code == 303
        engine.delays_s = {"count": 1}
        answer = visitor.get(f"{DENTISTS}&n=10&sort=score")
        shown = text_of(answer)
        assert "at least 11 leads" in shown
        assert "already received" not in shown
        assert "Get 10 leads" in shown
        assert "Download …" in shown
        (part,) = re.findall(r'<strong id="total" hx-get="([^"]+)"', answer.text)
        total = text_of(visitor.get(html.unescape(part), {"HX-Request": "true"}))
        assert total == f"{AUSTIN - 10} leads · 10 already received, left out Include"
        assert charges(made, account) == [(8, "person", "search")]


def test_a_chip_is_removed_and_turned_around(explorers: Office) -> None:
    _, visitor = customer(explorers)
    answer = visitor.get(DENTISTS)
    (without_city,) = re.findall(r'href="([^"]+)" aria-label="Remove City: Austin"', answer.text)
    assert f"{AUSTIN + 5} leads" in text_of(visitor.get(html.unescape(without_city)))
    chip = answer.text[answer.text.index("City:") :]
    not_austin = html.unescape(re.findall(r'<a href="([^"]+)">Is not</a>', chip)[0])
    shown = text_of(visitor.get(not_austin))
    assert "not City: Austin" in shown
    assert "5 leads" in shown


def test_corrections_unused_words_and_wishes_are_named(explorers: Office) -> None:
    _, visitor = customer(explorers)
    answer = visitor.get(f"{EXPLORE}?q={quote('friendly dentits in Austin hiring now')}")
    shown = text_of(answer)
    assert "Read “dentits” as “dentists”." in shown
    assert "Siteglass has no data on hiring. These results ignore “hiring now”." in shown
    assert "Not used: “friendly”. Require it?" in shown
    required = text_of(visitor.get(link(answer, "Require it?")))
    assert "Mentions: friendly" in required
    assert "Not used" not in required


def test_every_condition_has_a_label() -> None:
    assert set(LABELS) == {name for name, asked in ASKED.items() if asked.ask.kind is not Kind.FLAG}
    (added,) = parse("!@added(Klaviyo, Drip, 30d)").plain
    assert clause_name(added) == "not Added: Drip in the last 30 days or Klaviyo in the last 30 days"


def test_assumptions_and_groups_look_different(explorers: Office) -> None:
    _, visitor = customer(explorers)
    slow = visitor.get(f"{EXPLORE}?q=slow+dentists")
    assert 'class="chip assumed"' in slow.text
    assert "Load time: more than 3,000 ms (from “slow”)" in text_of(slow)
    group = visitor.get(f"{EXPLORE}?q={quote('Shopify restaurants in Germany or Wix dentists in Austin')}")
    assert "Shopify, Restaurant in Germany or Wix, Dentist in Austin" in text_of(group)


def test_a_search_that_finds_nothing_says_what_to_change(explorers: Office) -> None:
    _, visitor = customer(explorers)
    answer = visitor.get(f"{DENTISTS}+using+Shopify")
    shown = text_of(answer)
    assert "No leads match all 4 conditions" in shown
    assert f"Without Uses: Shopify · {AUSTIN} leads Remove" in shown
    assert "explore/buy" not in answer.text
    assert f"{AUSTIN} leads" in text_of(visitor.get(link(answer, "Remove</a>".removesuffix("</a>"))))
    elsewhere = text_of(visitor.get(f"{EXPLORE}?q=restaurants+in+Bavaria"))
    assert "Without State: Bavaria · 8 leads Remove" in elsewhere


def test_words_without_a_condition_have_no_button(explorers: Office) -> None:
    _, visitor = customer(explorers)
    answer = visitor.get(f"{EXPLORE}?q=hello")
    assert "Add at least one condition" in text_of(answer)
    assert "explore/buy" not in answer.text


def test_facets_narrow_and_exclude(explorers: Office) -> None:
    _, visitor = customer(explorers)
    panel = visitor.get(f"{DENTISTS}&part=facets", {"HX-Request": "true"})
    shown = text_of(panel)
    assert f"With email {AUSTIN_WITH_EMAIL}" in shown
    assert "Wix 13 Exclude" in shown
    assert f"✓ Austin {AUSTIN}" in shown
    with_wix = link(panel, "Wix")
    assert "13 leads" in text_of(visitor.get(with_wix))
    (without_wix,) = re.findall(r'href="([^"]+)" aria-label="Exclude Wix"', panel.text)
    excluded = text_of(visitor.get(html.unescape(without_wix)))
    assert "not Uses: Wix" in excluded
    assert f"{AUSTIN - 13} leads" in excluded
    # Another city is an alternative, in the same chip.
    dallas = text_of(visitor.get(link(panel, "Dallas")))
    assert "City: Austin or Dallas" in dallas
    assert f"{AUSTIN + 5} leads" in dallas


def test_directive_text_is_a_search_too(explorers: Office) -> None:
    _, visitor = customer(explorers)
    answer = visitor.get(f"{EXPLORE}?text={quote('@city(Dallas)')}")
    assert answer.status_code == 303
    assert "5 leads" in text_of(visitor.get(answer.headers["location"]))
    wrong = visitor.get(f"{EXPLORE}?text={quote('@citty(Dallas)')}")
    assert wrong.status_code == 422
    assert "This text is not a search" in text_of(wrong)


@pytest.mark.parametrize(
    "odd", ["?add=nonsense", "?add={", "?q=" + "x" * 2_000, "?after=abc", "?n=0", "?drop=@city(X)"]
)
def test_odd_addresses_are_answered(explorers: Office, odd: str) -> None:
    _, visitor = customer(explorers)
    answer = visitor.get(EXPLORE + odd)
    assert answer.status_code in (200, 404)
    assert "Something went wrong" not in answer.text


# --- previews -----------------------------------------------------------------------------------


def hidden_texts(*, of_names: bool) -> list[str]:
    """What no page may show of leads that cost something."""
    costly = [lead for lead in LEADS.values() if lead.emails]
    contacts = [text for lead in costly for text in (*lead.emails, *lead.phones)]
    return contacts + [text for lead in costly for text in (lead.domain, lead.business_name) if of_names]


@pytest.mark.promise("explore.preview")
def test_a_masked_preview_shows_no_name_domain_contact_or_text(explorers: Office) -> None:
    _, visitor = customer(explorers)
    for path in (f"{DENTISTS}&n=100", f"{DENTISTS}&part=facets"):
        answer = visitor.get(path, {"HX-Request": "true"} if "part" in path else None)
        assert [text for text in hidden_texts(of_names=True) if text in answer.text] == []


@pytest.mark.promise("explore.preview")
def test_a_named_preview_shows_names_and_no_contacts(explorers: Office) -> None:
    _, visitor = customer(explorers, preview="named")
    answer = visitor.get(f"{DENTISTS}&n=100")
    assert "Yaupon Dental" in answer.text
    assert "yaupon-dental-austin.com" in answer.text
    assert "Get contacts for 25 leads · 20 credits" in text_of(answer)
    assert [text for text in hidden_texts(of_names=False) if text in answer.text] == []


@pytest.mark.promise("explore.preview")
@pytest.mark.parametrize("preview", ["masked", "named"])
def test_what_costs_nothing_is_shown_in_full_and_not_counted(explorers: Office, preview: Preview) -> None:
    account, visitor = customer(explorers, preview=preview, per_day=0)
    free = [lead for lead in LEADS.values() if lead.city == "Austin" and not lead.emails]
    answer = visitor.get(f"{DENTISTS}&n=100")
    for lead in free:
        assert all(text in answer.text for text in (lead.business_name, lead.domain, *lead.phones))
        page = visitor.get(f"/dashboard/leads/{lead.domain}")
        assert all(text in page.text for text in (lead.business_name, lead.title, *lead.phones))
    assert len(free) == AUSTIN - AUSTIN_WITH_EMAIL
    assert charges(explorers, account) == []
    # A row is not received: the search still finds it.
    assert f"{AUSTIN} leads" in text_of(visitor.get(f"{DENTISTS}&n=50"))


@pytest.mark.promise("explore.preview")
def test_without_a_preview_there_are_counts_and_a_price(explorers: Office) -> None:
    _, visitor = customer(explorers, preview="off")
    shown = text_of(visitor.get(DENTISTS))
    assert "Your plan has no preview" in shown
    assert "Austin, TX" not in shown
    assert "Get 20 leads · 16 credits" in shown


@pytest.mark.promise("explore.preview_cap")
@pytest.mark.race
def test_previews_end_at_the_daily_number_of_different_leads(explorers: Office) -> None:
    account, visitor = customer(explorers, preview="named", per_day=12)
    other = explorers.visitor(explorers.somebody(account, "viewer"))
    costly = {lead.domain for lead in LEADS.values() if lead.emails}
    seen: set[str] = set()
    # Every order, length, place and value, by two people, in 50 requests at the same time.
    paths = [
        f"{EXPLORE}?q={quote(words)}&sort={sort}&n={n}"
        for words in ("dentists", "dentists in Dallas", "restaurants in Berlin", "Wix", "WordPress in Texas")
        for sort in ("score", "-score", "-crawled_at")
        for n in (3, 100)
    ]
    with ThreadPoolExecutor(50) as pool:
        for answer in pool.map(lambda turn: (visitor, other)[turn[0] % 2].get(turn[1]), enumerate((paths * 2)[:50])):
            assert answer.status_code == 200
            assert "<tbody>" in answer.text  # never without rows
            seen |= {domain for domain in costly if domain in answer.text}
    assert len(seen) == 12
    # What was seen is shown again, for 30 days; of the rest, only what the search says, and when there is more.
    for days in (0, 29):
        explorers.preview_days_pass(account, days)
        page = visitor.get(f"{EXPLORE}?q=dentists&n=100")
        shown = {domain for domain in costly if domain in page.text}
        assert {domain for domain in seen if "dental" in domain} <= shown
        if not days:
            assert shown <= seen
            assert "your account sees at most 12 new leads a day before it gets them" in text_of(page)
            assert "The next ones are from 00:00 UTC." in text_of(page)
            assert page.text.count("<strong>Trade: Dentist</strong>") == len(
                {domain for domain in costly if "dental" in domain} - seen
            )
    # After 30 days they count again.
    explorers.preview_days_pass(account, 30)
    again = visitor.get(f"{EXPLORE}?q=dentists&n=100")
    assert len({domain for domain in costly if domain in again.text}) == 12


@pytest.mark.promise("explore.preview_cap")
def test_a_plan_can_lift_the_daily_number(explorers: Office) -> None:
    _, visitor = customer(explorers, preview="named", per_day=ANY_NUMBER)
    assert "only what the search says" not in text_of(visitor.get(f"{EXPLORE}?q=dentists&n=100"))
    assert "at most" not in text_of(visitor.get("/dashboard/plan")).partition("Preview in Explore")[2][:60]


@pytest.mark.promise("explore.preview_cap", "facets.few")
def test_values_of_few_leads_count_these_leads_first(explorers: Office) -> None:
    _, visitor = customer(explorers, preview="named", per_day=7)

    def panel(words: str) -> str:
        return text_of(visitor.get(f"{EXPLORE}?q={quote(words)}&part=facets", {"HX-Request": "true"}))

    # Four of the five in Dallas have an address; the panel counts them before it describes them.
    assert "Wix 3" in panel("dentists in Dallas")
    assert "With email" not in panel("restaurants in Berlin")
    assert "These values would describe 8 leads that your account has not received" in panel("restaurants in Berlin")
    assert "8 with email" in panel("restaurants in Berlin")
    # Refused ones were not counted: three are left, and a row needs one of them.
    page = visitor.get(f"{EXPLORE}?q={quote('restaurants in Berlin')}")
    assert sum(lead.domain in page.text for lead in LEADS.values()) == 3
    # Many leads describe none of them; those that the account received are known.
    assert "Wix 16" in panel("dentists")
    bought = visitor.post(f"{EXPLORE}/buy", form_of(visitor.get(f"{EXPLORE}?q={quote('restaurants in Berlin')}")))
    assert bought.status_code == 303
    included = visitor.get(
        f"{EXPLORE}?q={quote('restaurants in Berlin')}&received=1&part=facets", {"HX-Request": "true"}
    )
    assert "Shopify 8" in text_of(included)


@pytest.mark.promise("explore.preview_cap", "facets.few")
def test_who_knows_every_way_learns_of_no_more_leads_than_the_day_has(explorers: Office) -> None:
    _, visitor = customer(explorers, preview="named", per_day=4)
    costly = [lead for lead in LEADS.values() if lead.emails and lead.city == "Austin"][:8]
    for number, lead in enumerate(costly):
        form = {"name": f"one-{number}", "domains": lead.domain}
        assert visitor.post("/dashboard/lists", form).status_code == 303
    ways = [
        [f"{EXPLORE}?only=one-{number}&part=facets" for number in range(3)],
        [f"{EXPLORE}?only=one-{number}&add={quote('@country(Japan)')}&part=facets" for number in range(2, 8)],
        [f"{EXPLORE}?only=one-{number}" for number in range(8)],
        [f"/dashboard/leads/{lead.domain}" for lead in costly[::-1]],
    ]
    learnt: set[str] = set()
    for way in ways:
        for path in way:
            answer = visitor.get(path, {"HX-Request": "true"} if "part=" in path else None)
            listed = re.findall(r"one-(\d+)", path)
            asked = costly[int(listed[0])] if listed else LEADS[path.rpartition("/")[2]]
            # A panel names no lead; it describes the only one that there is.
            if asked.title in answer.text or re.search(r"(Austin|United States)</span>.{0,50}>1\b", answer.text):
                learnt.add(asked.domain)
    assert len(learnt) == 4


# --- ticked leads --------------------------------------------------------------------------------


def ticked(answer: httpx.Response, *names: str) -> dict[str, str | list[str]]:
    """What the form of ticked leads sends once those of these names are ticked, as the page counts them."""
    boxes = re.findall(r'name="lead" value="([^"]+)" data-cost="(\d)" aria-label="Tick ([^"]+)"', answer.text)
    chosen = [(domain, int(cost)) for domain, cost, name in boxes if name in names]
    (back,) = set(re.findall(r'id="chosen".*?name="back" value="([^"]+)"', answer.text, re.DOTALL))
    price = str(sum(cost for _, cost in chosen))
    return {"lead": [domain for domain, _ in chosen], "price": price, "back": html.unescape(back), "format": "csv"}


@pytest.mark.promise("explore.choice")
def test_ticked_leads_are_charged_at_exactly_their_price(explorers: Office) -> None:
    account, visitor = customer(explorers, preview="named")
    # Zilker has no address.
    form = ticked(visitor.get(DENTISTS), "Yaupon Dental", "Willow Dental", "Zilker Dental")
    assert form["price"] == "2"
    for _ in range(2):
        answer = visitor.post(f"{EXPLORE}/chosen", {**form, "do": "get"})
        shown = visitor.get(answer.headers["location"])
        assert "2 credits charged." in text_of(shown)
        assert shown.text.count("mailto:hello@") == 2
    assert charges(explorers, account) == [(2, "person", "search")]
    following = visitor.get(f"{DENTISTS}&n=100")
    assert f"{AUSTIN - 3} leads · 3 already received, left out" in text_of(following)
    # More than the rows said is refused.
    lower = ticked(following, "Violet Dental") | {"price": "0", "do": "get"}
    assert visitor.post(f"{EXPLORE}/chosen", lower).status_code == 402
    assert visitor.post(f"{EXPLORE}/chosen", lower | {"lead": []}).status_code == 422
    # A file costs what the leads cost, and is free again; as a file of the purchase is.
    file = visitor.get(
        visitor.post(
            f"{EXPLORE}/chosen", {**ticked(following, "Violet Dental", "Uptown Dental"), "do": "download"}
        ).headers["location"]
    )
    assert "hello@violet-dental-austin.com" in file.text
    assert len(file.text.splitlines()) == 3
    again = visitor.get(html.unescape(re.findall(r'href="([^"]+format=csv&amp;columns=hubspot)"', shown.text)[0]))
    assert sorted(re.findall("^[\\w-]+\\.com", again.text, re.MULTILINE)) == sorted(form["lead"])
    assert charges(explorers, account) == [(2, "person", "search")] * 2
    _, stranger = customer(explorers)
    assert stranger.get(answer.headers["location"].replace(EXPLORE, f"{EXPLORE}/bought", 1)).status_code == 404


@pytest.mark.promise("explore.choice")
def test_lists_of_ticked_leads_are_free_and_not_received(explorers: Office) -> None:
    account, visitor = customer(explorers, preview="named")
    page = visitor.get(DENTISTS)
    named = {**ticked(page, "Yaupon Dental"), "do": "list", "list": "Next Week"}
    assert "yaupon-dental-austin.com" in visitor.get(visitor.post(f"{EXPLORE}/chosen", named).headers["location"]).text
    left_out = visitor.post(f"{EXPLORE}/chosen", {**ticked(page, "Willow Dental"), "do": "leave-out"})
    shown = text_of(visitor.get(left_out.headers["location"]))
    assert f"{AUSTIN - 1} leads" in shown
    assert "not List: left-out" in shown
    assert charges(explorers, account) == []
    # The leads of a purchase, all at once.
    visitor.post(f"{EXPLORE}/buy", form_of(visitor.get(f"{DENTISTS}&n=10")))
    bought = visitor.get(f"{DENTISTS}&n=10")
    (request,) = re.findall('name="bought" value="([^"]+)"', bought.text)
    kept = {"bought": request, "back": EXPLORE, "do": "list", "list": "bought"}
    assert "10" in text_of(visitor.get(visitor.post(f"{EXPLORE}/chosen", kept).headers["location"]))
    # Where names are not shown, nobody learns by a list which lead it was.
    _, masked = customer(explorers, preview="masked")
    assert masked.post(f"{EXPLORE}/chosen", named).status_code == 422
    assert visitor.post(f"{EXPLORE}/chosen", named | {"list": "paid"}).status_code == 422


# --- buying -------------------------------------------------------------------------------------


@pytest.mark.promise("explore.charge")
def test_the_button_charges_what_it_said_once(explorers: Office) -> None:
    account, visitor = customer(explorers)
    page = visitor.get(DENTISTS)
    form = form_of(page)
    assert (form["price"], charges(explorers, account)) == ("16", [])
    bought = visitor.post(f"{EXPLORE}/buy", form)
    assert bought.status_code == 303, bought.text
    shown = visitor.get(bought.headers["location"])
    assert (
        "16 credits charged. These leads stay free for 30 days: on screen, in files and on lists. Receipt"
        in text_of(shown)
    )
    assert "84 lead credits" in text_of(shown)
    assert shown.text.count("mailto:hello@") == 16
    assert charges(explorers, account) == [(16, "person", "search")]
    receipt = visitor.get(link(shown, "Receipt"))
    assert "−16" in text_of(receipt)
    # The form again, the page again, another tab, a colleague: nothing more is charged.
    colleague = explorers.visitor(explorers.somebody(account, "member"))
    for who in (visitor, colleague):
        assert who.post(f"{EXPLORE}/buy", form).status_code == 303
        assert "16 credits charged" in text_of(who.get(DENTISTS))
    assert charges(explorers, account) == [(16, "person", "search")]


@pytest.mark.promise("explore.charge")
@pytest.mark.race
def test_pressed_many_times_at_once_it_is_charged_once(explorers: Office) -> None:
    account, visitor = customer(explorers)
    form = form_of(visitor.get(DENTISTS))
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: visitor.post(f"{EXPLORE}/buy", form).status_code, range(6)))
    assert set(answers) <= {303, 409}
    assert charges(explorers, account) == [(16, "person", "search")]


@pytest.mark.promise("explore.charge")
def test_two_tabs_never_pay_for_a_lead_twice(explorers: Office) -> None:
    account, visitor = customer(explorers)
    first, second = form_of(visitor.get(f"{DENTISTS}&n=10")), form_of(visitor.get(DENTISTS))
    for form in (first, second):
        assert visitor.post(f"{EXPLORE}/buy", form).status_code == 303
    # Of the 25, the first took 10; the second gets the 15 that are left, for less than it said.
    assert charges(explorers, account) == [(8, "person", "search"), (12, "person", "search")]
    assert int(second["price"]) == 16


@pytest.mark.promise("explore.charge")
def test_the_price_never_rises_above_the_button(explorers: Office) -> None:
    account, visitor = customer(explorers)
    form = form_of(visitor.get(DENTISTS)) | {"price": "15"}
    refused = visitor.post(f"{EXPLORE}/buy", form)
    assert refused.status_code == 402
    assert "Nothing was charged" in text_of(refused)
    assert charges(explorers, account) == []


@pytest.mark.promise("explore.charge")
@pytest.mark.parametrize("seed", range(PATHS))
def test_on_every_way_through_the_pages_the_ledger_says_what_the_buttons_said(explorers: Office, seed: int) -> None:
    """Random clicks of two people: reload, back, double click, two tabs, and connections that are lost."""
    pick = random.Random(seed)
    account, first = customer(explorers, lead=60)
    people = (first, explorers.visitor(explorers.somebody(account, "member")))
    said: dict[str, int] = {}
    seen: list[dict[str, str]] = []
    paths = [f"{DENTISTS}&n={n}{more}" for n in (3, 10, 25) for more in ("", "&sort=score", "&received=1")]
    paths.append(f"{EXPLORE}?q=restaurants+in+Berlin")
    for _ in range(8):
        visitor = pick.choice(people)
        if not seen or pick.random() < 0.5:
            answer = visitor.get(pick.choice(paths))
            if "explore/buy" in answer.text:
                seen.append(form_of(answer))
            continue
        form = pick.choice(seen)  # perhaps one that was sent before, or is old by now
        said[f"{form['body']}{form['after']}"] = max(int(form["price"]), said.get(f"{form['body']}{form['after']}", 0))
        match pick.choice(("once", "twice", "at once", "lost")):
            case "once":
                visitor.post(f"{EXPLORE}/buy", form)
            case "twice":
                for _ in range(2):
                    visitor.post(f"{EXPLORE}/buy", form)
            case "at once":
                with ThreadPoolExecutor(2) as pool:
                    list(pool.map(lambda who, form=form: who.post(f"{EXPLORE}/buy", form), people))
            case "lost":
                with contextlib.suppress(httpx.TimeoutException):
                    visitor.post_and_leave(f"{EXPLORE}/buy", form)
                visitor.post(f"{EXPLORE}/buy", form)
    made = charges(explorers, account)
    assert len(made) <= len(said)
    assert sum(lead for lead, _, _ in made) <= sum(said.values())
    assert sum(lead for lead, _, _ in made) == 60 - balance(explorers, account)


def test_the_next_page_has_its_own_price_and_rows(explorers: Office) -> None:
    account, visitor = customer(explorers)
    visitor.post(f"{EXPLORE}/buy", form_of(visitor.get(f"{DENTISTS}&n=10")))
    following = visitor.get(link(visitor.get(f"{DENTISTS}&n=10"), "Next leads"))
    assert following.text.count("<tr>") == 11
    form = form_of(following)
    assert form["price"] == "8"
    bought = visitor.post(f"{EXPLORE}/buy", form)
    shown = visitor.get(bought.headers["location"])
    assert shown.text.count("mailto:hello@") == 8
    assert charges(explorers, account) == [(8, "person", "search"), (8, "person", "page")]
    assert visitor.post(f"{EXPLORE}/buy", form).status_code == 303
    assert len(charges(explorers, account)) == 2


def test_leads_that_were_paid_for_are_left_out_of_the_next_search(explorers: Office) -> None:
    _, visitor = customer(explorers)
    visitor.post(f"{EXPLORE}/buy", form_of(visitor.get(f"{DENTISTS}&n=10")))
    page = visitor.get(f"{EXPLORE}?q=dentists+in+Austin&sort=score")
    assert "15 leads · 10 already received, left out Include" in text_of(page)
    included = visitor.get(f"{link(page, 'Include')}&n=100")
    assert text_of(included).count("Paid") == 8
    assert f"{AUSTIN} leads" in text_of(included)


def test_with_too_few_credits_the_page_offers_what_they_pay_for(explorers: Office) -> None:
    account, visitor = customer(explorers, lead=9)
    page = visitor.get(DENTISTS)
    assert "You have 9 credits; this page costs 16." in text_of(page)
    assert "sales@sender.test" in text_of(page)
    fewer = visitor.get(link(page, "Choose 12 leads · 9 credits"))
    form = form_of(fewer)
    assert visitor.post(f"{EXPLORE}/buy", form).status_code == 303
    assert charges(explorers, account) == [(9, "person", "search")]
    empty = visitor.get(f"{EXPLORE}?q=restaurants+in+Berlin")
    assert "You have 0 credits; this page costs 8." in text_of(empty)


@pytest.mark.promise("explore.roles")
def test_a_viewer_sees_the_price_and_cannot_spend(explorers: Office) -> None:
    account, owner = customer(explorers)
    viewer = explorers.visitor(explorers.somebody(account, "viewer"))
    page = viewer.get(DENTISTS)
    assert "Your role is viewer" in text_of(page)
    assert "explore/buy" not in page.text
    form = form_of(owner.get(DENTISTS))
    refused = viewer.post(f"{EXPLORE}/buy", form)
    assert refused.status_code == 403
    assert charges(explorers, account) == []


@pytest.mark.promise("explore.roles")
def test_somebody_who_became_a_viewer_is_refused_by_the_charge_itself(explorers: Office) -> None:
    account, visitor = customer(explorers, role="member")
    visitor.post(f"{EXPLORE}/buy", form_of(visitor.get(f"{DENTISTS}&n=5")))
    ((person, key_id),) = explorers.do(
        lambda postgres: postgres.fetch("SELECT person_id, id FROM {schema}.keys WHERE account_id = $1", account)
    )

    async def charge(postgres: Postgres) -> str:
        await postgres.fetch("UPDATE {schema}.members SET role = 'viewer' WHERE person_id = $1", person)
        row = await postgres.fetchrow(
            "SELECT outcome FROM {schema}.charge(account_id => $1, key_id => $2, operation => 'search',"
            " api_credits => 0, lead_credits => 0, request_id => 'late', domains => '',"
            " deadline => now() + interval '1 minute')",
            account,
            key_id,
        )
        assert row is not None
        return str(row["outcome"])

    assert explorers.do(charge) == "key"


def test_a_page_without_emails_is_free(explorers: Office) -> None:
    account, visitor = customer(explorers)
    page = visitor.get(f"{DENTISTS}&add={quote('!@has_email')}")
    assert "Show 5 leads · free" in text_of(page)
    pressed = visitor.post(f"{EXPLORE}/buy", form_of(page))
    assert charges(explorers, account) == [(0, "person", "search")]
    # Pressed twice, it shows the same purchase, which the ledger remembers and nothing else.
    again = visitor.post(f"{EXPLORE}/buy", form_of(page))
    assert again.headers["location"] == pressed.headers["location"]
    assert charges(explorers, account) == [(0, "person", "search")]
    assert "Nothing was charged: these leads are free." in text_of(visitor.get(pressed.headers["location"]))
    # So does the address of a search that includes what was received, and it leads on from there.
    address = f"{DENTISTS}&add={quote('!@has_email')}&received=1&n=2"
    for _ in range(2):
        assert visitor.post(f"{EXPLORE}/buy", form_of(visitor.get(address))).status_code == 303
        shown = visitor.get(address)
        assert "Nothing was charged: these leads are free." in text_of(shown)
        address = link(shown, "Next leads")
    assert "Show 1 lead · free" in text_of(visitor.get(address))
    assert charges(explorers, account) == [(0, "person", "search")] * 2 + [(0, "person", "page")]


def test_what_people_spend_is_usage_and_no_key(explorers: Office) -> None:
    _, visitor = customer(explorers)
    visitor.post(f"{EXPLORE}/buy", form_of(visitor.get(DENTISTS)))
    assert "Ada Lovelace (browser)" in visitor.get("/dashboard/usage?credits=lead").text
    assert "(browser)" not in visitor.get("/dashboard/keys").text


# --- a daily cap for a person -------------------------------------------------------------------


def set_cap(owner: Visitor, person_id: int, cap: str) -> httpx.Response:
    return owner.post(f"/dashboard/people/{person_id}/cap", {"daily_lead_cap": cap})


@pytest.mark.promise("explore.person_cap")
def test_a_person_spends_at_most_the_daily_cap(explorers: Office) -> None:
    account, owner = customer(explorers)
    tom = explorers.somebody(account, "member", "Tom Okafor")
    visitor = explorers.visitor(tom)
    # Before the first charge, too.
    assert set_cap(owner, tom.id, "10").headers["location"] == "/dashboard/people?done=cap-set"
    assert "at most 10 credits a day" in text_of(owner.get("/dashboard/people"))
    visitor.post(f"{EXPLORE}/buy", form_of(visitor.get(f"{DENTISTS}&n=10")))
    others = f"{DENTISTS}&sort=score"
    page = visitor.get(others)
    assert "Your daily cap leaves 2 of 10 credits today; this page costs 12." in text_of(page)
    assert "It starts again at 00:00 UTC. Owners of the account can change it under Settings, People." in text_of(page)
    assert "explore/buy" not in page.text
    # The charge itself keeps the cap, whatever a form says.
    unlimited = form_of(owner.get(others))
    assert visitor.post(f"{EXPLORE}/buy", unlimited).status_code == 402
    assert charges(explorers, account) == [(8, "person", "search")]
    fewer = visitor.get(link(page, "Choose 2 leads · 2 credits"))
    assert visitor.post(f"{EXPLORE}/buy", form_of(fewer)).status_code == 303
    assert charges(explorers, account) == [(8, "person", "search"), (2, "person", "search")]
    reached = text_of(visitor.get(f"{EXPLORE}?q=restaurants+in+Berlin"))
    assert "Your daily cap of 10 credits is reached; this page costs 8." in reached
    # What is free stays free, and nobody else is limited.
    free = visitor.get(f"{DENTISTS}&add={quote('!@has_email')}")
    assert visitor.post(f"{EXPLORE}/buy", form_of(free)).status_code == 303
    assert owner.post(f"{EXPLORE}/buy", form_of(owner.get(others))).status_code == 303
    assert [lead for lead, _, _ in charges(explorers, account)] == [8, 2, 0, 10]
    # Without the cap, the person can spend again.
    set_cap(owner, tom.id, "")
    visitor.post(f"{EXPLORE}/buy", form_of(visitor.get(f"{EXPLORE}?q=restaurants+in+Berlin")))
    assert [lead for lead, _, _ in charges(explorers, account)] == [8, 2, 0, 10, 8]
    assert balance(explorers, account) == 100 - 28
    trail = text_of(owner.get("/dashboard/audit"))
    assert "changed the daily cap of Tom Okafor" in trail
    assert "At most 10 lead credits per day" in trail
    assert "No cap" in trail


@pytest.mark.promise("explore.person_cap")
def test_only_owners_set_caps(explorers: Office) -> None:
    account, owner = customer(explorers)
    tom = explorers.somebody(account, "member")
    assert set_cap(explorers.visitor(tom), tom.id, "1000").status_code == 403
    wrong = set_cap(owner, tom.id, "many")
    assert wrong.status_code == 422
    assert "Lead credits per day: enter a whole number" in text_of(wrong)
    assert 'value="many"' in wrong.text
    assert set_cap(owner, 999_999, "5").status_code == 404
