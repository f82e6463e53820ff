"""Tickets: nobody makes, changes or guesses one, nor what proves it."""

from __future__ import annotations

import base64
import secrets

import pytest

from siteglass.privacy.tickets import NotATicket, Purpose, Ticket, TicketSealer
from siteglass.query.cursor import CursorSealer
from testing.service import SECRET

NOW = 1_800_000_000
TICKET = Ticket(Purpose.OPT_OUT, "email", "jo@example.com", NOW + 3_600)
SEALER = TicketSealer([SECRET])
OLDER = "an older secret of the tests, long enough to seal"


def test_there_and_back() -> None:
    sealed = SEALER.seal(TICKET)
    assert SEALER.open(sealed, NOW).ticket == TICKET
    assert SEALER.open(sealed, NOW + 3_599).ticket == TICKET
    assert "jo" not in base64.urlsafe_b64decode(sealed + "==").decode("latin-1")


def test_two_of_the_same_request_have_nothing_in_common() -> None:
    one, two = (SEALER.open(SEALER.seal(TICKET), NOW) for _ in range(2))
    assert one.ticket == two.ticket
    assert one.code != two.code
    assert one.token != two.token
    assert not one.is_code(two.code)


def test_purposes_and_values_do_not_share_a_code() -> None:
    codes = set()
    for purpose in Purpose:
        for text in ("jo@example.com", "bo@example.com"):
            codes.add(SEALER.open(SEALER.seal(Ticket(purpose, "email", text, NOW + 1)), NOW).code)
    assert len(codes) == 4


@pytest.mark.promise("opt_out_confirm.code")
def test_a_code_is_easy_to_type() -> None:
    opened = SEALER.open(SEALER.seal(TICKET), NOW)
    code = opened.code
    groups = code.split("-")
    assert [len(group) for group in groups] == [4, 4, 4]
    assert not set("".join(groups)) & set("OILU")
    confused = code.replace("0", "o").replace("1", "l")
    for typed in (code, code.lower(), code.replace("-", ""), code.replace("-", "  "), f" {code}\n", confused):
        assert opened.is_code(typed), typed
    for typed in ("", "-", code[:-1], f"{code}0", code[::-1], "é" * 12):
        assert not opened.is_code(typed), typed


@pytest.mark.promise("opt_out_confirm.code")
def test_a_thousand_random_codes() -> None:
    opened = SEALER.open(SEALER.seal(TICKET), NOW)
    digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    assert not any(opened.is_code("".join(secrets.choice(digits) for _ in range(12))) for _ in range(1_000))


def test_codes_use_all_their_bits() -> None:
    """Every character takes every value somewhere, and no code comes twice."""
    codes = [SEALER.open(SEALER.seal(TICKET), NOW).code.replace("-", "") for _ in range(600)]
    assert len(set(codes)) == 600
    assert all(len({code[at] for code in codes}) == 32 for at in range(12))


@pytest.mark.parametrize("now", [NOW + 3_600, NOW + 10**6])
def test_expired(now: int) -> None:
    with pytest.raises(NotATicket, match="has expired"):
        SEALER.open(SEALER.seal(TICKET), now)


@pytest.mark.promise("opt_out_confirm.ticket")
def test_every_bit_counts() -> None:
    sealed = bytearray(base64.urlsafe_b64decode(SEALER.seal(TICKET) + "=="))
    for at in range(len(sealed) * 8):
        changed = bytearray(sealed)
        changed[at // 8] ^= 1 << at % 8
        with pytest.raises(NotATicket, match="is not a ticket of this service"):
            SEALER.open(base64.urlsafe_b64encode(changed).decode().rstrip("="), NOW)


@pytest.mark.parametrize("text", ["", "x", "A" * 20, "A" * 100, "A" * 5_000, "ä" * 40, "A=", "A A", "\0", "A" * 21])
def test_what_is_none(text: str) -> None:
    with pytest.raises(NotATicket, match="is not a ticket of this service"):
        SEALER.open(text, NOW)


def test_another_secret() -> None:
    with pytest.raises(NotATicket):
        TicketSealer([OLDER]).open(SEALER.seal(TICKET), NOW)


def test_secrets_can_be_changed() -> None:
    sealed = TicketSealer([OLDER]).seal(TICKET)
    before, after = (TicketSealer(given).open(sealed, NOW) for given in ([OLDER], [SECRET, OLDER]))
    assert (before.ticket, before.code, before.token) == (after.ticket, after.code, after.token)


def test_a_cursor_of_the_same_secret_is_no_ticket() -> None:
    """Both are sealed with one secret, under different keys."""
    cursor = CursorSealer([SECRET], 60)._keys[0].encrypt(b"[]" * 20, [b"siteglass-ticket-1"])
    with pytest.raises(NotATicket):
        SEALER.open(base64.urlsafe_b64encode(cursor).decode().rstrip("="), NOW)


@pytest.mark.promise("limit.opt_out_ticket_chars")
def test_the_longest_value_fits() -> None:
    longest = Ticket(Purpose.ACCESS, "email", "x" * 64 + "@" + "y" * 253, NOW + 1)
    assert SEALER.open(SEALER.seal(longest), NOW).ticket == longest


def test_a_secret_is_needed() -> None:
    for given in ([], ["short"]):
        with pytest.raises(ValueError, match="32 characters or more"):
            TicketSealer(given)
