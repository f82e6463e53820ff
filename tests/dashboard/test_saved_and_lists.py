"""Saved searches and lists without a browser: who sees and changes which, what is counted, and what Explore does."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import httpx
import pytest

from siteglass.access.accounts import Plan, set_plan
from siteglass.platform.postgres import Postgres
from testing.dashboard.explore import AUSTIN, explore_leads
from testing.dashboard.visitors import Office, Visitor, office
from tests.suppression.world import command

EXPLORE, SEARCHES, LISTS = "/dashboard/explore", "/dashboard/searches", "/dashboard/lists"
DENTISTS = f"{EXPLORE}?q=dentists%20in%20Austin"


@pytest.fixture(scope="module")
def explorers(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Office]:
    """A service that has leads, with a plan whose rate no test meets."""
    with office(f"saved-{worker_id}", tmp_path_factory.mktemp("saved"), explore_leads()) as made:
        made.do(lambda postgres: set_plan(postgres, Plan("fast", 10_000, 10_000), actor="tests"))
        yield made


def team(explorers: Office, *roles: str) -> tuple[int, list[Visitor]]:
    """An account, and people of it who are signed in."""
    account = explorers.account(plan="fast", lead=100)
    return account, [explorers.visitor(explorers.somebody(account, role, f"Person {role}")) for role in roles]


def text_of(answer: httpx.Response) -> str:
    """What a person reads in the page's main part, in one line."""
    main = answer.text[answer.text.index("<main") :]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", main)).split())


def rows_of(answer: httpx.Response) -> dict[str, str]:
    """The rows of the tables of a page, in one line each, by the first word."""
    rows = re.findall(r"<tr>\s*<td.*?</tr>", answer.text, re.DOTALL)
    lines = [" ".join(html.unescape(re.sub(r"<[^>]+>", " ", row)).split()) for row in rows]
    return {line.partition(" ")[0]: line for line in lines}


def link(answer: httpx.Response, label: str) -> str:
    """The address of the link that is named like this."""
    found = re.search(
        rf'<a [^>]*?href="([^"]+)"[^>]*?(?:aria-label="{re.escape(label)}"|>{re.escape(label)}<)', answer.text
    )
    assert found, f"no link {label!r} in {text_of(answer)}"
    return html.unescape(found[1])


# --- saved searches -----------------------------------------------------------------------------


@pytest.mark.promise("saved.pages")
def test_a_search_is_saved_opened_renamed_and_deleted(explorers: Office) -> None:
    _, (owner,) = team(explorers, "member")
    saved = owner.post(f"{DENTISTS}&add=@technology(Wix)&sort=score", {"name": "Wix dentists in Münster!"})
    assert saved.status_code == 303
    assert "The search was saved" in text_of(owner.get(saved.headers["location"]))
    page = owner.get(SEARCHES)
    row = rows_of(page)["wix-dentists-in-munster"]
    assert "City: Austin" in row
    assert "Uses: Wix · Trade: Dentist 13 no change opened just now Watch You only you see it" in row
    # It is opened as it was saved, and the price and counts are those of today.
    opened = owner.get(link(page, "wix-dentists-in-munster"))
    assert "13 leads" in text_of(opened)
    assert "Sort: SEO score, low first" in text_of(opened)
    renamed = owner.post(f"{SEARCHES}/wix-dentists-in-munster/change", {"name": "Wix"})
    assert renamed.headers["location"] == f"{SEARCHES}?done=search-changed"
    assert [*rows_of(owner.get(SEARCHES))] == ["wix"]
    assert owner.post(f"{SEARCHES}/wix/delete").status_code == 303
    assert "No saved searches yet" in text_of(owner.get(SEARCHES))


@pytest.mark.promise("saved.pages")
def test_words_are_saved_as_words(explorers: Office) -> None:
    account, (owner,) = team(explorers, "member")
    owner.post(DENTISTS, {"name": "dentists"})
    ((body,),) = explorers.do(
        lambda postgres: postgres.fetch("SELECT body FROM {schema}.saved_searches WHERE account_id = $1", account)
    )
    assert body == '{"query":"dentists in Austin","exclude_lists":["received"]}'
    assert 'value="dentists in Austin"' in owner.get(link(owner.get(SEARCHES), "dentists")).text


@pytest.mark.promise("saved.pages")
def test_a_count_is_compared_with_the_last_time_that_somebody_opened_the_search(explorers: Office) -> None:
    account, (owner,) = team(explorers, "member")
    owner.post(DENTISTS, {"name": "dentists"})

    async def earlier(postgres: Postgres) -> None:
        await postgres.fetch(
            "UPDATE {schema}.saved_searches SET total = 20, counted_at = now() - interval '3 days'"
            " WHERE account_id = $1",
            account,
        )

    explorers.do(earlier)
    for _ in range(2):  # looking at the page is not opening the search
        page = owner.get(SEARCHES)
        assert f"{AUSTIN} +5 leads opened 3 days ago" in rows_of(page)["dentists"]
    owner.get(link(page, "dentists"))
    assert f"{AUSTIN} no change opened just now" in rows_of(owner.get(SEARCHES))["dentists"]


@pytest.mark.promise("saved.private")
def test_what_is_not_shared_is_not_visible_to_others(explorers: Office) -> None:
    _, (first, second, viewer) = team(explorers, "member", "owner", "viewer")
    first.post(DENTISTS, {"name": "mine"})
    first.post(DENTISTS, {"name": "ours", "shared": "1"})
    assert [*rows_of(first.get(SEARCHES))] == ["mine", "ours"]
    for other in (second, viewer):
        page = other.get(SEARCHES)
        assert [*rows_of(page)] == ["ours"]
        assert "Person member shared" in rows_of(page)["ours"]
    for action in ("change", "delete"):
        assert second.post(f"{SEARCHES}/mine/{action}", {"name": "taken"}).status_code == 404
        assert viewer.post(f"{SEARCHES}/ours/{action}", {"name": "taken"}).status_code == 403
    # Others rename what is shared; whether it is shared stays the owner's choice.
    second.post(f"{SEARCHES}/ours/change", {"name": "theirs"})
    assert "Person member shared" in rows_of(second.get(SEARCHES))["theirs"]
    assert [*rows_of(first.get(SEARCHES))] == ["mine", "theirs"]
    assert "Change" not in text_of(viewer.get(SEARCHES)).partition("Owner")[2]
    assert "Save search" not in text_of(viewer.get(DENTISTS))
    assert viewer.post(DENTISTS, {"name": "viewers"}).status_code == 403


@pytest.mark.promise("saved.private", "watch.seen")
def test_searches_of_people_who_leave_are_shared_with_the_account(explorers: Office) -> None:
    account, (owner, second, third) = team(explorers, "owner", "member", "viewer")
    gone = explorers.somebody(account, "member", "Person deleted")
    for visitor, name in ((second, "left"), (explorers.visitor(gone), "gone")):
        visitor.post(DENTISTS, {"name": name})
        fields = {"every": "day", "weekday": "monday", "hour": "6", "time_zone": "UTC"}
        answer = visitor.post(f"{SEARCHES}/{name}/watch", fields)
        assert answer.status_code == 303
    assert third.get(f"{SEARCHES}/left/watch").status_code == 404
    assert "Searches and watches that only you see are shared" in text_of(second.get("/dashboard/people/leave"))
    second.post("/dashboard/people/leave")
    command(explorers.settings, "person", "delete", gone.email)
    for name in ("left", "gone"):
        assert "shared" in rows_of(third.get(SEARCHES))[name]
        assert owner.post(f"{SEARCHES}/{name}/watch/remove").status_code == 303
    assert "left the account 1 of their searches, with watches, is shared now" in text_of(owner.get("/dashboard/audit"))


def test_a_name_that_is_taken_or_empty_is_refused_with_what_to_do(explorers: Office) -> None:
    _, (owner,) = team(explorers, "member")
    owner.post(DENTISTS, {"name": "dentists"})
    again = owner.post(DENTISTS, {"name": "Dentists"})
    assert again.status_code == 422
    assert "Not saved: the account has a saved search dentists" in text_of(again)
    assert "Use 1 to 63 letters or digits" in text_of(owner.post(DENTISTS, {"name": "?!"}))
    owner.post(DENTISTS, {"name": "other"})
    taken = owner.post(f"{SEARCHES}/other/change", {"name": "dentists"})
    assert taken.status_code == 422
    assert "Not changed: the account has a saved search dentists" in text_of(taken)


# --- lists --------------------------------------------------------------------------------------

KNOWN = [lead.domain for lead in explore_leads()[:3]]


@pytest.mark.promise("lists.pages")
def test_a_list_is_created_changed_downloaded_and_deleted(explorers: Office) -> None:
    _, (owner,) = team(explorers, "member")
    pasted = f"https://www.{KNOWN[0]}/about\n{KNOWN[1]}, nobody-knows-this.com"
    made = owner.post(LISTS, {"name": "Customers", "domains": pasted})
    assert made.headers["location"] == f"{LISTS}/customers?done=list-created"
    assert rows_of(owner.get(LISTS))["customers"].startswith("customers 3 2 1 just now")
    page = owner.get(f"{LISTS}/customers")
    assert "Domains 3 Leads known 2" in text_of(page)
    more = owner.post(f"{LISTS}/customers", {"domains": f"{KNOWN[1]}\n{KNOWN[2]}\nn/a", "action": "add"})
    assert "1 domain added. 1 was already on the list. Not a domain: “n/a”." in text_of(more)
    less = owner.post(f"{LISTS}/customers", {"domains": KNOWN[0], "action": "remove"})
    assert "1 domain removed." in text_of(less)
    file = owner.get(f"{LISTS}/customers/domains.txt")
    assert file.text.split() == sorted([KNOWN[1], KNOWN[2], "nobody-knows-this.com"])
    assert file.headers["content-disposition"] == 'attachment; filename="siteglass-list-customers.txt"'
    assert owner.post(f"{LISTS}/customers/delete").status_code == 303
    assert "No lists yet" in text_of(owner.get(LISTS))


@pytest.mark.promise("lists.pages")
def test_explore_leaves_a_list_out_or_finds_nothing_else(explorers: Office) -> None:
    _, (owner,) = team(explorers, "member")
    owner.post(LISTS, {"name": "customers", "domains": "\n".join(KNOWN)})
    page = owner.get(DENTISTS)
    without = owner.get(link(page, "Leave out the list customers"))
    assert "not List: customers" in text_of(without)
    assert f"{AUSTIN - 3} leads" in text_of(without)
    alone = owner.get(link(page, "Only the list customers"))
    assert "Only list: customers" in text_of(alone)
    assert "3 leads" in text_of(alone)
    # Without any words, the list alone is a search; removed, there is none.
    assert "3 leads" in text_of(owner.get(link(owner.get(f"{LISTS}/customers"), "Search this list")))
    assert f"{AUSTIN} leads" in text_of(owner.get(link(alone, "Remove Only list: customers")))
    # It survives being saved.
    owner.post(f"{DENTISTS}&exclude=customers", {"name": "new-ones"})
    assert f"not List: customers {AUSTIN - 3} no change" in rows_of(owner.get(SEARCHES))["new-ones"]
    owner.post(f"{LISTS}/customers/delete")
    assert "A list of this search was deleted." in rows_of(owner.get(SEARCHES))["new-ones"]
    gone = owner.get(f"{DENTISTS}&exclude=customers")
    assert gone.status_code == 422
    assert "There is no list customers" in text_of(gone)


@pytest.mark.promise("lists.pages")
def test_leads_that_were_paid_for_are_on_the_list_paid(explorers: Office) -> None:
    _, (owner,) = team(explorers, "member")
    page = owner.get(f"{DENTISTS}&n=10")
    (form,) = re.findall(r'<form method="post" action="/dashboard/explore/buy".*?</form>', page.text, re.DOTALL)
    fields = {name: html.unescape(value) for name, value in re.findall(r'name="(\w+)" value="([^"]*)"', form)}
    owner.post(f"{EXPLORE}/buy", {name: value for name, value in fields.items() if name != "token"})
    assert rows_of(owner.get(LISTS))["paid"].startswith("paid 8 8 0")
    assert "8 leads" in text_of(owner.get(link(owner.get(f"{LISTS}/paid"), "Search this list")))
    refused = owner.post(f"{LISTS}/paid", {"domains": KNOWN[0], "action": "remove"})
    assert (refused.status_code, "can't be changed" in html.unescape(refused.text)) == (422, True)
    assert owner.post(f"{LISTS}/paid/delete").status_code == 422


@pytest.mark.promise("lists.pages")
def test_a_viewer_looks_and_changes_nothing(explorers: Office) -> None:
    _, (owner, viewer) = team(explorers, "member", "viewer")
    owner.post(LISTS, {"name": "customers", "domains": KNOWN[0]})
    assert "customers" in rows_of(viewer.get(LISTS))
    assert viewer.get(f"{LISTS}/customers/domains.txt").text == f"{KNOWN[0]}\n"
    for path in (LISTS, f"{LISTS}/customers"):
        assert '<form method="post" action="/dashboard/lists' not in viewer.get(path).text
        assert viewer.post(path, {"name": "mine", "domains": KNOWN[1], "action": "add"}).status_code == 403
    assert viewer.post(f"{LISTS}/customers/delete").status_code == 403


def test_what_is_too_much_or_wrong_is_refused_with_what_to_do(explorers: Office) -> None:
    _, (owner,) = team(explorers, "member")
    many = "\n".join(f"d{number}.com" for number in range(10_001))
    assert "paste at most 10,000 domains at once" in text_of(owner.post(LISTS, {"name": "many", "domains": many}))
    assert owner.post(LISTS, {"name": "many", "domains": "x" * 1_000_001}).status_code == 413
    assert "paid is a built-in list" in text_of(owner.post(LISTS, {"name": "paid"}))
    owner.post(LISTS, {"name": "one"})
    assert "there is a list one already" in text_of(owner.post(LISTS, {"name": "One"}))
    assert "paste one domain per line" in text_of(owner.post(f"{LISTS}/one", {"domains": " ", "action": "add"}))
