"""What people do on the pages of keys and people, and what the service then says to a program."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from html.parser import HTMLParser

import httpx

from testing.dashboard.visitors import Office, Somebody, Visitor, link_in

HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>')


def form_id(page: str) -> str:
    """The number of a form, which can be sent once."""
    found = re.search(r'name="form" value="([\w-]+)"', page)
    assert found, page
    return found[1]


def key_on(page: httpx.Response) -> str:
    """The key that a page shows once."""
    assert page.status_code == 200, page.text
    found = re.search(r'<code id="new-key"[^>]*>(sg_(?:live|test)_\w+)</code>', page.text)
    assert found, page.text
    return found[1]


def number_on(page: httpx.Response) -> int:
    """The number of the key that a page shows once."""
    found = re.search(r'href="/dashboard/keys/(\d+)">View the key', page.text)
    assert found, page.text
    return int(found[1])


def fill_in(visitor: Visitor, fields: Mapping[str, str | list[str]] | None = None) -> dict[str, str | list[str]]:
    """The form of a new key, as somebody opens and fills it in."""
    page = visitor.get("/dashboard/keys/new")
    assert page.status_code == 200, page.headers
    return {
        "form": form_id(page.text),
        "name": "Office",
        "scopes": ["search", "enrich", "account"],
        "expires": "never",
        **(fields or {}),
    }


def make_key(visitor: Visitor, **fields: str | list[str]) -> tuple[int, str]:
    """A new key: its number, and the key."""
    page = visitor.post("/dashboard/keys", fill_in(visitor, fields))
    return number_on(page), key_on(page)


def many_keys(office: Office, account_id: int, count: int, *, revoked: bool = False) -> None:
    """Keys of an account that nobody knows, written at once."""
    office.do(
        lambda postgres: postgres.fetch(
            "INSERT INTO {schema}.keys"
            " (account_id, name, digest, secret_version, shown_start, shown_end, scopes, revoked_at)"
            " SELECT $1, 'one of many', sha256(gen_random_uuid()::text::bytea), 'abcdefgh', 'sg_live_0000', '0000',"
            " '{search}', CASE WHEN $3 THEN now() END FROM generate_series(1, $2) n",
            account_id,
            count,
            revoked,
        )
    )


def many_people(office: Office, account_id: int, count: int, name: str) -> None:
    """People of an account who never sign in, written at once."""
    office.do(
        lambda postgres: postgres.fetch(
            "WITH made AS (INSERT INTO {schema}.people (email, name, password)"
            "     SELECT gen_random_uuid() || '@many.test', $3 || ' ' || lpad(n::text, 4, '0'), 'none'"
            "     FROM generate_series(1, $2) n RETURNING id)"
            " INSERT INTO {schema}.members (account_id, person_id, role) SELECT $1, id, 'viewer' FROM made",
            account_id,
            count,
            name,
        )
    )


def call(office: Office, key: str) -> httpx.Response:
    """What a program gets that asks with this key about its account."""
    return httpx.get(f"{office.url}/v1/account", headers={"X-API-Key": key}, trust_env=False)


def may_search(office: Office, key: str) -> bool:
    """Whether a search is looked at at all: one that is wrong, as there is nothing to search here."""
    headers, body = {"X-API-Key": key}, {"limit": "many"}
    answer = httpx.post(f"{office.url}/v1/leads/search", json=body, headers=headers, trust_env=False)
    assert answer.status_code in (400, 403), answer.text
    return answer.status_code == 400


class _Parts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [(tag, ""), *((tag, name) for name, _ in attrs)]


def is_inert(page: httpx.Response) -> bool:
    """Whether a page has no code in it, no style, and no picture but ours."""
    parts = _Parts()
    parts.feed(page.text)
    handlers = [name for _, name in parts.found if name == "style" or name.startswith("on")]
    scripts = [tag for tag, name in parts.found if tag == "script" and not name]
    sourced = [tag for tag, name in parts.found if tag == "script" and name == "src"]
    return not handlers and len(scripts) == len(sourced) and "src=x" not in page.text.replace("&lt;img src=x", "")


def age_password(office: Office, who: Somebody, minutes: int = 11) -> None:
    """The password was given that long ago."""
    office.do(
        lambda postgres: postgres.fetch(
            "UPDATE {schema}.sessions SET proven_at = now() - make_interval(mins => $2) WHERE person_id = $1",
            who.id,
            minutes,
        )
    )


def invitation(office: Office, to: str) -> str:
    """The path that the newest mail to somebody leads to."""
    return link_in(office.outbox.mails(to)[-1].get_content())


def words(page: httpx.Response) -> str:
    """What a page says, without tags."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.text)).split())
