"""Walls, on every page that the router has: roles, other accounts, forms of other sites, headers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

import httpx
import pytest

from siteglass.dashboard.guard import DeclaredPage
from siteglass.dashboard.routes import FILES, NOTHING, PAGES
from siteglass.people.people import ROLES
from testing.dashboard.visitors import Office, Visitor
from tests.dashboard.walls import FIELDS, FORMS, INSIDE, WITH_IDS, Full, enter, full, state


def ask(visitor: Visitor, page: DeclaredPage, path: str) -> httpx.Response:
    """As one of our pages would."""
    return visitor.get(path) if page.method == "GET" else visitor.post(path, FIELDS)


def named(page: DeclaredPage) -> str:
    return page.name


def test_no_two_pages_share_a_name_or_an_address() -> None:
    assert len({page.name for page in PAGES}) == len(PAGES)
    assert len({(page.method, page.path) for page in PAGES}) == len(PAGES)


@pytest.mark.promise("dashboard.roles")
@pytest.mark.parametrize("page", INSIDE, ids=named)
def test_roles(the_office: Office, page: DeclaredPage) -> None:
    """Nobody, viewer, member, owner: each gets the pages of the role, and no other."""
    for role in (None, *ROLES):
        # A new account each time: what one does may take something from the next.
        account = full(the_office)
        visitor = enter(the_office, account, role or "owner")
        path = account.path(page, role or "owner")
        if role is None:
            visitor.cookies.clear()
            visitor.get("/dashboard/sign-in")
        before = state(the_office, account)
        answer = ask(visitor, page, path)
        if role is None:
            assert answer.status_code == 303
            assert answer.headers["location"].startswith("/dashboard/sign-in")
        elif ROLES.index(role) < ROLES.index(page.role):
            assert answer.status_code == 403, role
            assert "Your role does not allow this" in answer.text
        else:
            assert answer.status_code in (200, 303, 403, 404, 422), (role, answer.status_code, answer.text)
            assert "Your role does not allow this" not in answer.text
            continue
        assert state(the_office, account) == before, role
        assert account.secret not in re.sub(r'<header class="site">.*?</header>', "", answer.text, flags=re.DOTALL)


@pytest.fixture(scope="session")
def two(the_office: Office) -> tuple[Full, Full]:
    """Two accounts; the first has more of everything that is numbered from one."""
    return full(the_office, entries=3), full(the_office)


@pytest.mark.promise("dashboard.accounts")
@pytest.mark.parametrize("page", [page for page in WITH_IDS if "{token}" not in page.path], ids=named)
def test_ids_of_another_account(the_office: Office, two: tuple[Full, Full], page: DeclaredPage) -> None:
    """Every id of one account, tried by the owner of another on every route: 404 or 403, never data."""
    theirs, ours = two
    enter(the_office, theirs, "owner")
    stranger = enter(the_office, ours, "owner")
    before = state(the_office, *two)
    # The way back from a company's sign-in that nobody began shows the form to begin one.
    refused = (422, 404) if page.name == "company.back" else (403, 404)
    answer = ask(stranger, page, theirs.path(page))
    assert answer.status_code in refused
    assert theirs.secret not in answer.text
    assert state(the_office, *two) == before
    for made_up in ("0", "999999999999999999", "-1", "1e3", "x", "9" * 30, "%00", "1%2F..%2F2"):
        answer = ask(stranger, page, re.sub(r"{\w+}", made_up, page.path))
        assert answer.status_code in (*refused, 405), made_up
    assert state(the_office, *two) == before


@pytest.mark.promise("dashboard.accounts")
@pytest.mark.parametrize("page", [page for page in INSIDE if page.method == "GET" and "{" not in page.path], ids=named)
def test_parameters_with_ids_of_another_account(the_office: Office, two: tuple[Full, Full], page: DeclaredPage) -> None:
    theirs, ours = two
    stranger = enter(the_office, ours, "owner")
    names = ("key", "key_id", "account", "account_id", "person", "before", "after", "request", "request_id", "q")
    for number in (theirs.key_id, theirs.account_id, theirs.people["owner"].id, theirs.secret):
        answer = stranger.get(f"{page.path}?" + "&".join(f"{name}={number}" for name in names))
        assert answer.status_code in (200, 303, 404, 422), answer.text
        shown = answer.text.replace(f'value="{theirs.secret}"', "")  # what was typed stays in its field
        assert f"{theirs.secret} " not in shown


def test_another_account_can_only_be_looked_at_by_its_people(the_office: Office, two: tuple[Full, Full]) -> None:
    theirs, ours = two
    stranger = enter(the_office, ours, "owner")
    for account in (str(theirs.account_id), "0", "", "x"):
        assert stranger.post("/dashboard/accounts", {"account": account}).status_code == 404
    assert ours.secret in stranger.get("/dashboard").text
    assert theirs.secret not in stranger.get("/dashboard/accounts").text


def test_an_invitation_is_for_whom_it_was_mailed_to(the_office: Office, two: tuple[Full, Full]) -> None:
    theirs, ours = two
    stranger = enter(the_office, ours, "viewer")
    path = f"/dashboard/join/{theirs.token}"
    assert "This invitation is for" in stranger.get(path).text
    before = state(the_office, *two)
    assert stranger.post(path).status_code == 422
    assert state(the_office, *two) == before


# --- forms of other sites ------------------------------------------------------------------------------------

URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=b"
BODIES = {
    URLENCODED: b"token={token}&name=x",
    MULTIPART: (b'--b\r\nContent-Disposition: form-data; name="token"\r\n\r\n{token}\r\n--b--\r\n'),
    "text/plain": b"token={token}&name=x",
    "application/json": b'{"token": "{token}"}',
    "": b"token={token}",
}
# Origin, Sec-Fetch-Site; `own` stands for the service's own address.
ORIGINS = [
    *product(
        (None, "null", "http://evil.test", "https://own", "own:81", "http://own.evil.test"),
        (None, "cross-site", "same-site", "none", "same-origin"),
    ),
    ("own", "cross-site"),
    ("own", "same-site"),
    ("own", "none"),
]
# Only these pairs come from our own forms.
RIGHT = {("own", "same-origin"), ("own", None), (None, "same-origin")}


def _sent(
    visitor: Visitor, method: str, path: str, media: str, origin: tuple[str | None, str | None], token: str
) -> int:
    host = visitor.url.removeprefix("http://")
    headers = {"Content-Type": media} if media else {}
    if origin[0] is not None:
        headers["Origin"] = visitor.url if origin[0] == "own" else origin[0].replace("own", host)
    if origin[1] is not None:
        headers["Sec-Fetch-Site"] = origin[1]
    body = BODIES[media].replace(b"{token}", token.encode())
    return visitor.send(method, path, body, headers).status_code


@pytest.mark.promise("dashboard.forms")
@pytest.mark.parametrize("page", FORMS, ids=named)
def test_no_form_of_another_site_is_taken(the_office: Office, two: tuple[Full, Full], page: DeclaredPage) -> None:
    """Method, content type, origin and token: only the combination that our own pages send is accepted."""
    account = two[0]
    visitor = enter(the_office, account, "owner")
    others = enter(the_office, two[1], "owner")
    path = account.path(page)
    before = state(the_office, *two)
    taken = {URLENCODED, MULTIPART} if page.max_file_bytes else {URLENCODED}
    for media, origin in product(BODIES, ORIGINS):
        if media in taken and origin in RIGHT:
            continue
        assert _sent(visitor, "POST", path, media, origin, visitor.token) in (403, 415), (media, origin)
    for media, origin in product(set(BODIES) - taken, RIGHT):
        assert _sent(visitor, "POST", path, media, origin, visitor.token) == 415, (media, origin)
    for token in ("", "x", visitor.token[:-1], visitor.token.lower(), others.token, visitor.token_of("")):
        for media in taken:
            assert _sent(visitor, "POST", path, media, ("own", "same-origin"), token) == 403, token
    for method in ("PUT", "PATCH", "DELETE"):
        assert _sent(visitor, method, path, URLENCODED, ("own", "same-origin"), visitor.token) == 405
    assert visitor.get(f"{path}?token={visitor.token}&_method=POST&name=x").status_code in (200, 303, 404, 405)
    assert state(the_office, *two) == before


def test_what_a_page_of_ours_sends_is_taken(the_office: Office, two: tuple[Full, Full]) -> None:
    """The same walk would otherwise pass where nothing is taken at all."""
    for origin in sorted(RIGHT, key=str):
        visitor = enter(the_office, two[0], "owner")
        assert _sent(visitor, "POST", "/dashboard/sign-out", URLENCODED, origin, visitor.token) == 303


def test_forms_are_bounded(the_office: Office, two: tuple[Full, Full]) -> None:
    visitor = enter(the_office, two[0], "owner")
    right = {"Origin": visitor.url, "Content-Type": URLENCODED}
    assert visitor.send("POST", "/dashboard/sign-out", b"a=" + b"x" * 20_000, right).status_code == 413
    many = b"&".join(b"f=1" for _ in range(200))
    assert visitor.send("POST", "/dashboard/sign-out", many, right).status_code == 403  # none of them is read
    assert visitor.send("POST", "/dashboard/sign-out", b"\xff\xfe=%ff&token=%00", right).status_code == 403


# --- headers -------------------------------------------------------------------------------------------------

EVERYWHERE = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "strict-transport-security": "max-age=63072000; includeSubDomains",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}


def _nonces(answer: httpx.Response) -> Iterator[str]:
    yield from re.findall(r"'nonce-([A-Za-z0-9_-]{20,})'", answer.headers["content-security-policy"])


@pytest.mark.promise("dashboard.headers")
@pytest.mark.parametrize("page", [*PAGES, NOTHING], ids=named)
def test_headers_and_no_code_in_the_page(the_office: Office, two: tuple[Full, Full], page: DeclaredPage) -> None:
    """Signed in or not, shown or refused."""
    account = two[0]
    inside = enter(the_office, account, "viewer")
    path = account.path(page, "viewer") if page is not NOTHING else "/dashboard/no/such/page"
    outside = the_office.visitor()
    answers = [inside.get(path) if page.method == "GET" else inside.post(path, {"token": "old"})]
    answers.append(outside.get(path) if page.method == "GET" else outside.post(path, {"token": "old"}))
    nonces: list[str] = []
    for answer in answers:
        assert {name: answer.headers.get(name) for name in EVERYWHERE} == EVERYWHERE
        assert answer.headers["x-request-id"]
        if not answer.headers.get("content-type", "").startswith("text/html"):
            continue
        policy = answer.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert "default-src 'none'" in policy
        (nonce,) = set(_nonces(answer))
        nonces.append(nonce)
        html = answer.text
        assert len(re.findall(r"<script\b", html)) == len(re.findall(rf'<script nonce="{nonce}" src="{FILES}/', html))
        assert not re.search(r"<style\b|\sstyle=|\son[a-z]+=|javascript:|hx-on", html)
        for address in re.findall(r'(?:src|href|action)="([^"]*)"', html):
            assert address.startswith(("/", "#", "mailto:")), address
            assert not address.startswith("//"), address
    assert len(set(nonces)) == len(nonces)
