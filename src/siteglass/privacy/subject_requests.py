"""Operation: what the people ask whom the data is about. Ask, prove, carry out; nothing is kept in between."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from siteglass.corpus.lead_files import LeadFileError
from siteglass.errors import BadRequest, Problem, Unavailable
from siteglass.index.generations import GenerationError
from siteglass.index.index import Index
from siteglass.platform.mailer import MailError, MailRefused
from siteglass.platform.opensearch import EngineError
from siteglass.privacy import opt_out
from siteglass.privacy.code_mails import CodeMails
from siteglass.privacy.control import Control, ControlCheck, places
from siteglass.privacy.opt_out import HeldData
from siteglass.privacy.received_counts import note_request
from siteglass.privacy.tickets import NotATicket, OpenedTicket, Purpose, Ticket, TicketSealer
from siteglass.settings import SettingsError, variable
from siteglass.suppression.values import Hasher, Kind, Value

CODE_LIFE_S = 3_600
TOKEN_LIFE_S = 7 * 86_400
RETRY_AFTER_S = 60
DEADLINE_S = 30
MAX_AT_ONCE = 4
REASON = "asked for at the opt-out page"
ACTOR = "opt-out page"

SUBJECT = "Your Siteglass code"
TEXTS = {
    Purpose.OPT_OUT: """\
Somebody, most likely you, asked Siteglass to stop showing this email address.

Your code:  {code}

Enter it on the page where you made the request. It is valid for one hour, and only for this request.

If it was not you, ignore this email: without the code nothing happens. Do not share the code.
""",
    Purpose.ACCESS: """\
Somebody, most likely you, asked Siteglass what data it stores about this email address.

Your code:  {code}

Enter it on the page where you made the request. It is valid for one hour, and only for this request.

If it was not you, ignore this email: without the code nothing is revealed. Do not share the code: anyone who has it can
see the data.
""",
}


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """A request that waits for its proof: a code that was mailed, or a token to be shown at one of the places."""

    purpose: Purpose
    value: Value
    ticket: str
    expires_s: int
    token: str | None = None
    places: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class CompletedRequest:
    """A request that was proven and carried out; `held` answers one for access."""

    purpose: Purpose
    value: Value
    held: HeldData | None = None
    customers: int | None = None
    """How many customers received what is stored; None: it is still to be counted."""


class SubjectRequests:
    """Where such requests come in; one per worker."""

    def __init__(self, sealer: TicketSealer, mails: CodeMails | None, control: Control) -> None:
        self.sealer = sealer
        self._mails = mails
        self._control = control
        self._at_once = asyncio.Semaphore(MAX_AT_ONCE)

    async def ask(self, purpose: Purpose, value: Value, now_s: int) -> PendingRequest:
        """A ticket, and for an address a mail with its code. Stored data is not read, so the response cannot reveal
        it."""
        life_s = CODE_LIFE_S if value.kind is Kind.EMAIL else TOKEN_LIFE_S
        sealed = self.sealer.seal(Ticket(purpose, value.kind, value.text, now_s + life_s))
        opened = self.sealer.open(sealed, now_s)
        expires_s = opened.ticket.expires_s
        if value.kind is Kind.EMAIL:
            await self._mail_code(purpose, value.text, opened.code)
            return PendingRequest(purpose, value, sealed, expires_s)
        return PendingRequest(purpose, value, sealed, expires_s, opened.token, places(value.text))

    async def confirm(
        self, index: Index, sealed: str, code: str | None, purpose: Purpose | None = None
    ) -> CompletedRequest:
        """Carry a request out if it is proven; again and again while the ticket lives. Raises BadRequest if not.

        Whoever proved a value to see what is stored may also have it removed: `purpose` says so.
        """
        try:
            opened = self.sealer.open(sealed, index.clock.now_ms() // 1000)
        except NotATicket as error:
            raise _not_proven("ticket", f"{error}; request a new one with POST /v1/opt-out") from None
        ticket = opened.ticket
        value = Value(Kind(ticket.kind), ticket.text)
        if value.kind is Kind.EMAIL:
            _check_code(opened, code)
        else:
            await self._check_token(opened, code)
        return await self._carry_out(index, purpose or ticket.purpose, value)

    async def _carry_out(self, index: Index, purpose: Purpose, value: Value) -> CompletedRequest:
        """Raises Unavailable if it is not finished; repeating the request continues from there."""
        try:
            async with asyncio.timeout(DEADLINE_S), self._at_once:
                if purpose is Purpose.ACCESS:
                    return await self._show(index, value)
                await opt_out.suppress(index, [value], reason=REASON, actor=ACTOR)
                return CompletedRequest(purpose, value)
        except (SettingsError, LeadFileError, GenerationError) as error:
            raise Unavailable(f"{purpose}: {error}", RETRY_AFTER_S, has_price=False) from None
        except Unavailable as error:
            raise Unavailable(error.reason, RETRY_AFTER_S, has_price=False) from None
        except (TimeoutError, EngineError) as error:
            raise Unavailable(f"{purpose}: {type(error).__name__}", RETRY_AFTER_S, has_price=False) from None

    async def _show(self, index: Index, value: Value) -> CompletedRequest:
        """What is stored. How many customers received it takes long to count: a job does, and mails the number."""
        held = await opt_out.held(index, value)
        of_domain = value.kind is Kind.DOMAIN
        domains = [*held.domains, *([value.text] if of_domain else ())]
        key = Hasher(index.settings).of_value(value)
        customers = await note_request(index.postgres, key, None if of_domain else value.text, domains)
        return CompletedRequest(Purpose.ACCESS, value, held, customers)

    async def _mail_code(self, purpose: Purpose, address: str, code: str) -> None:
        if self._mails is None:
            raise Unavailable(f"mail cannot be sent: {variable('mail_url')} is not set", RETRY_AFTER_S, has_price=False)
        try:
            await self._mails.send(address, SUBJECT, TEXTS[purpose].format(code=code))
        except MailRefused:
            raise _not_proven("email", "mail to this address was rejected; is the address correct?") from None
        except MailError as error:
            raise Unavailable(f"mail cannot be sent: {error}", RETRY_AFTER_S, has_price=False) from None

    async def _check_token(self, opened: OpenedTicket, code: str | None) -> None:
        if code is not None:
            raise _not_proven("code", "not used for a domain; omit it, the service looks for the token of the domain")
        looks = await self._control.look(opened.ticket.text, opened.token)
        if not any(look.proven for look in looks):
            raise BadRequest([_missed(look, opened.token) for look in looks])


def _check_code(opened: OpenedTicket, code: str | None) -> None:
    if code is None:
        raise _not_proven("code", "expected the code that was emailed to the address, found nothing")
    if not opened.is_code(code):
        raise _not_proven("code", "not the code that was emailed for this ticket; use the code from the newest email")


def _missed(look: ControlCheck, token: str) -> Problem:
    return Problem("ticket", f"expected {token} at {look.place}, found {look.found}")


def _not_proven(field: str, message: str) -> BadRequest:
    return BadRequest([Problem(field, message)])
