"""What the page tells people in the data, checked after customers have bought it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import httpx
import pytest

from siteglass.access.accounts import create_account
from siteglass.access.keys import create_key
from siteglass.billing.credits import grant
from siteglass.errors import Unavailable
from siteglass.index.index import Index
from siteglass.platform.mailer import FolderMailer, MailDeferred, open_mailer
from siteglass.platform.postgres import Postgres
from siteglass.privacy import received_counts
from siteglass.privacy.received_counts import count_received
from siteglass.settings import Settings
from siteglass.suppression.values import Hasher, Kind, Value
from testing.api_calls import ENRICH, SEARCH
from testing.service import run
from tests.opt_out.conftest import Door

JO, SITE = "jo@door-seen.com", "door-seen.com"
LINK = "https://leads.example.com/opt-out"


def bought(door: Door) -> tuple[httpx.Response, dict[str, str]]:
    """The record, as a new customer got it, and the headers to ask again."""

    async def customer(index: Index) -> str:
        account = await create_account(index.postgres, f"Buyer {secrets.token_hex(4)}", "tests", actor="tests")
        await grant(index.postgres, account, 10, 10, "tests", secrets.token_hex(4))
        return (await create_key(index.postgres, door.settings.key_secrets, account, "key", actor="tests"))[1]

    headers = {"X-API-Key": run(door.settings, customer), "Idempotency-Key": secrets.token_hex(8)}
    answer = door.client.post(ENRICH, json={"domains": [SITE]}, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer, headers


def count(settings: Settings) -> int:
    async def counted(index: Index) -> int:
        mailer = open_mailer(settings)
        assert mailer is not None
        try:
            return await count_received(index.postgres, mailer, LINK)
        finally:
            mailer.close()

    return run(settings, counted)


def noted(settings: Settings) -> list[tuple[str | None, list[str], bool]]:
    """What is stored about the access request of Jo: the address, the websites, and whether they were counted."""

    async def rows(index: Index) -> list[tuple[str | None, list[str], bool]]:
        found = await index.postgres.fetch(
            "SELECT email, domains, counted_at IS NOT NULL AS counted FROM {schema}.received_counts"
            " WHERE value_hash = $1",
            Hasher(index.settings).of_value(Value(Kind.EMAIL, JO)),
        )
        return [(row["email"], row["domains"], row["counted"]) for row in found]

    return run(settings, rows)


@pytest.mark.promise("opt_out.truth", "opt_out_confirm.request")
def test_what_the_page_says_holds_after_a_purchase(door: Door) -> None:
    purchases = [bought(door) for _ in range(2)]
    first, headers = purchases[0]
    assert JO in first.text

    # "You see it here: the websites that it was found on, on which page, and when it was first and last seen there."
    asked = door.ask(email=JO, request="access")
    proof = {"ticket": asked["ticket"], "code": door.outbox.code(JO)}
    told = door.confirm(**proof)
    (lead,) = told["leads"]
    assert (lead["domain"], sorted(lead["fields"])) == (SITE, ["emails", "emails_detail"])
    assert lead["seen"] == [
        {
            "value": JO,
            "page": "https://door-seen.com/imprint",
            "first_seen": "2026-05-28T20:26:40Z",
            "last_seen": "2026-09-21T14:13:20Z",
        }
    ]
    # "That is what customers see, too."
    shown = door.client.post(
        SEARCH,
        json={"wrapped_query": "@keywords(read)", "select": ["domain", "emails_detail"]},
        headers={"X-API-Key": headers["X-API-Key"]},
    )
    details = [one for record in shown.json()["results"] for one in record["emails_detail"] if one["value"] == JO]
    assert [one["page"] for one in details] == [lead["seen"][0]["page"]]
    assert details[0]["last_seen"].startswith("2026-09-21T14:13:20")

    # "Within minutes we count how many customers received such a record. We email the number to the address, and store
    # the address until then. […] The number and the websites are stored under a keyed hash for up to eight days."
    assert told["received_by"] == "Not counted yet"
    assert noted(door.settings) == [(JO, [SITE], False)]
    assert count(door.settings) >= 1  # other tests ask, too
    assert "Fewer than three customers received the record" in door.outbox.mails(JO)[-1].get_content()
    assert door.confirm(**proof)["received_by"] == "Fewer than three customers"
    assert noted(door.settings) == [(None, [SITE], True)]
    count(door.settings)
    assert len(door.outbox.mails(JO)) == 2  # the code, and the number once

    # "You can opt out from there.": without another code. An opt-out cannot be turned into an access.
    done = door.confirm(**proof, request="opt_out")
    assert (done["request"], done["suppressed"]) == ("opt_out", True)
    assert door.post("/v1/opt-out/confirm", {**proof, "request": "access"}).status_code == 400

    # "Within 60 seconds, searches and look-ups no longer show the address"
    again = door.client.post(ENRICH, json={"domains": [SITE]}, headers={**headers, "Idempotency-Key": "another"})
    assert JO not in again.text
    # "Earlier responses are stored for up to two days […]. From now on they are returned without your data."
    replayed = door.client.post(ENRICH, json={"domains": [SITE]}, headers=headers)
    assert replayed.headers["idempotency-replayed"] == replayed.headers["idempotency-redacted"] == "true"
    assert JO not in replayed.text
    # "Customers who received the record earlier keep a receipt that names the domain of the website."
    receipt = door.client.get(f"/v1/ledger/{first.headers['x-request-id']}", headers=headers)
    assert SITE in receipt.text
    assert JO not in receipt.text
    # "They may also have files with the record": what was received before is beyond our reach.
    assert JO in first.text


def test_three_customers_are_a_number(door: Door) -> None:
    for _ in range(3):
        bought(door)
    address = "team@door-seen.com"
    asked = door.ask(email=address, request="access")
    proof = {"ticket": asked["ticket"], "code": door.outbox.code(address)}
    door.confirm(**proof)
    count(door.settings)
    customers = int(door.confirm(**proof)["received_by"].removesuffix(" customers"))
    assert customers >= 3
    mail = door.outbox.mails(address)[-1]
    assert f"{customers} customers received the record of a website that contains it" in mail.get_content()
    assert LINK in mail.get_content()


def test_a_domain_sees_the_number_when_it_asks_again(door: Door) -> None:
    asked = door.ask(domain="door-nine.com", request="access")
    door.names.say("_siteglass.door-nine.com", "TXT", [f'"{asked["token"]}"'])
    assert door.confirm(ticket=asked["ticket"])["received_by"] == "Not counted yet"
    count(door.settings)
    assert door.confirm(ticket=asked["ticket"])["received_by"] == "Fewer than three customers"


def test_a_count_that_takes_too_long_does_not_keep_the_others_waiting(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_slow, of_other = (door.ask(domain=site, request="access") for site in ("door-slow.com", "door-fast.com"))
    for asked, site in ((of_slow, "door-slow.com"), (of_other, "door-fast.com")):
        door.names.say(f"_siteglass.{site}", "TXT", [f'"{asked["token"]}"'])
        door.confirm(ticket=asked["ticket"])
    counted_at_all = received_counts._count

    async def count_slowly(postgres: Postgres, domains: Sequence[str]) -> int:
        if "door-slow.com" in domains:
            raise Unavailable("postgresql: TimeoutError")
        return await counted_at_all(postgres, domains)

    monkeypatch.setattr(received_counts, "_count", count_slowly)
    with pytest.raises(Unavailable):
        count(door.settings)
    count(door.settings)
    assert door.confirm(ticket=of_slow["ticket"])["received_by"] == "Not counted yet"
    assert door.confirm(ticket=of_other["ticket"])["received_by"] == "Fewer than three customers"


def test_a_recipient_that_takes_no_mail_now_does_not_keep_the_others_waiting(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses = [f"jo@door-{name}.com" for name in ("greylisted", "later")]
    for address in addresses:
        asked = door.ask(email=address, request="access")
        door.confirm(ticket=asked["ticket"], code=door.outbox.code(address))
    attempts = []
    send = FolderMailer.send

    async def send_or_defer(mailer: FolderMailer, to: str, subject: str, text: str) -> None:
        attempts.append(to)
        if to == addresses[0]:
            raise MailDeferred("mail.test:25 refused the recipient with 451")
        await send(mailer, to, subject, text)

    monkeypatch.setattr(FolderMailer, "send", send_or_defer)
    for _ in range(2):
        count(door.settings)
    assert [to for to in attempts if to in addresses] == addresses
    assert "Fewer than three customers" in door.outbox.mails(addresses[1])[-1].get_content()
    # Fifteen minutes later.
    monkeypatch.undo()
    run(door.settings, lambda index: index.postgres.fetch("UPDATE {schema}.received_counts SET mail_after = now()"))
    count(door.settings)
    assert "Fewer than three customers" in door.outbox.mails(addresses[0])[-1].get_content()


def test_a_stranger_learns_nothing(door: Door) -> None:
    asked = door.ask(email="nobody@door-strange.com", request="access")
    proof = {"ticket": asked["ticket"], "code": door.outbox.code("nobody@door-strange.com")}
    door.confirm(**proof)
    count(door.settings)
    assert door.confirm(**proof)["received_by"] == "Fewer than three customers"
