"""Operation: people sign in, ask for a new password, are invited and join; the mails that belong to it.

Who is not known gets the same answers as who is, after the same time: the same steps run, and mails go out later.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from siteglass.address import household, public_url
from siteglass.backends import Backends
from siteglass.errors import Unavailable
from siteglass.mailer import Mailer, MailError, is_address
from siteglass.people import links, people, sessions, tries
from siteglass.people.passwords import Passwords, check_password
from siteglass.people.problems import PeopleError
from siteglass.people.second_factor import SecondFactors
from siteglass.people.secrecy import Secrecy
from siteglass.people.sessions import Lifetimes, Session
from siteglass.settings import Settings, variable

log = logging.getLogger("siteglass.sign_in")

CODE_STEP_LIFE_S = 300
MAX_MAILS_WAITING = 100
INVITATIONS_PER_HOUR = 30
_CODE_USE = "sign-in step"

WRONG = "That e-mail address and password do not match. Try again, or ask for a new password."
WRONG_CODE = "That code is not right, or it was used before. Wait for the next one, or use a recovery code."
LINK_GONE = "This link works no more: it was used, replaced or has expired. Ask for a new one."

RESET_MAIL = """\
Somebody, most likely you, asked for a new password for Siteglass.

Choose it here within one hour:
{link}

If it was not you, do nothing: your password stays as it is.
"""
INVITATION_MAIL = """\
You are invited to {account} at Siteglass, as {role}.

Join here within seven days:
{link}

If you do not know why, do nothing.
"""
CHANGED_MAIL = """\
The password of your Siteglass sign-in was changed, and all other sessions were ended.

If it was not you, ask for a new password at once: {link}
"""


@dataclass(frozen=True, slots=True)
class Passed:
    """Whom the password let through: a session, or a step that waits for a code."""

    token: str = ""
    """What the session's cookie holds."""
    step: str = ""
    """What the form for the code carries."""


class SignIn:
    """Sign-in of one worker."""

    def __init__(self, backends: Backends, secrecy: Secrecy, passwords: Passwords, mailer: Mailer | None) -> None:
        settings = backends.settings
        self._backends = backends
        self._postgres = backends.postgres
        self._timeout_ms = settings.postgres_timeout_ms
        self._passwords = passwords
        self._mailer = mailer
        self._mails: set[asyncio.Task[None]] = set()
        self._public_url = public_url(settings)
        self.secrecy = secrecy
        self.factors = SecondFactors(self._postgres, secrecy, self._timeout_ms)
        self.lifetimes = lifetimes(settings)

    # --- in ---------------------------------------------------------------------------------------

    async def with_password(self, email: str, password: str, agent: str, address: str) -> Passed:
        """The first step; raises PeopleError, the same for a wrong password and an unknown address."""
        email = people.clean_email(email)
        taken = await self._take_tries(email, address)
        known = await people.find(self._postgres, email, timeout_ms=self._timeout_ms)
        if not await self._passwords.matches(known.password if known else None, password) or known is None:
            raise PeopleError(WRONG)
        await self._give_back(taken)
        if self._passwords.is_outdated(known.password):
            await self._store_password(known.id, password, None, noted=False)
        if known.has_second_factor:
            expires_s = self._backends.clock.now_ms() // 1000 + CODE_STEP_LIFE_S
            return Passed(step=self.secrecy.seal_token(_CODE_USE, [known.id], expires_s))
        return Passed(token=await self._start(known.id, agent, address))

    async def with_code(self, step: str, code: str, agent: str, address: str) -> Passed:
        """The second step; raises PeopleError."""
        opened = self.secrecy.open_token(_CODE_USE, step, self._backends.clock.now_ms() // 1000)
        if opened is None:
            raise PeopleError("That took too long. Sign in again.")
        person_id = int(opened[0])
        await self.prove_code(person_id, code)
        return Passed(token=await self._start(person_id, agent, address))

    async def prove_code(self, person_id: int, code: str) -> None:
        """Raise PeopleError unless it is a code of the person's second factor."""
        bucket = self.secrecy.marks("tries of a code", str(person_id))[0]
        taken = await tries.take(self._postgres, bucket, timeout_ms=self._timeout_ms)
        if not await self.factors.is_code(person_id, code):
            raise PeopleError(WRONG_CODE, "code")
        await self._give_back([taken])

    async def prove_again(self, session: Session, cookie: str, password: str, code: str, address: str) -> str | None:
        """The password once more, before something that matters; a new id for the session. Raises PeopleError."""
        taken = await self._take_tries(session.email, address)
        known = await people.find(self._postgres, session.email, timeout_ms=self._timeout_ms)
        if not await self._passwords.matches(known.password if known else None, password):
            raise PeopleError("That is not your password.", "password")
        await self._give_back(taken)
        if session.has_second_factor:
            await self.prove_code(session.person_id, code)
        return await sessions.renew(self._postgres, cookie, proven=True, timeout_ms=self._timeout_ms)

    async def _start(self, person_id: int, agent: str, address: str) -> str:
        accounts = await people.accounts_of(self._postgres, person_id, timeout_ms=self._timeout_ms)
        if not accounts:
            raise PeopleError("You belong to no account any more. Ask its owner for an invitation.")
        first = accounts[0].account_id
        return await sessions.start(self._postgres, person_id, first, agent, address, timeout_ms=self._timeout_ms)

    def _bucket(self, email: str) -> bytes:
        return self.secrecy.marks("tries of a person", email)[0]

    async def _take_tries(self, email: str, address: str) -> list[tries.Try]:
        """Count a try for the person and for where it comes from; raises TooManyTries."""
        bucket = self.secrecy.marks("tries of an address", household(address))[0]
        of_address = await tries.take(self._postgres, bucket, timeout_ms=self._timeout_ms, most=tries.MOST_OF_ADDRESS)
        return [of_address, await tries.take(self._postgres, self._bucket(email), timeout_ms=self._timeout_ms)]

    async def _give_back(self, taken: list[tries.Try]) -> None:
        for one in taken:
            await tries.give_back(self._postgres, one, timeout_ms=self._timeout_ms)

    # --- a new password ---------------------------------------------------------------------------

    async def ask_for_reset(self, email: str, address: str) -> None:
        """Mail a link, if there is such a person; nothing here tells whether there is. Raises TooManyTries."""
        email = people.clean_email(email)
        buckets = (("resets of a person", email, 5), ("resets of an address", household(address), 50))
        for use, text, most in buckets:
            await tries.take(
                self._postgres, self.secrecy.marks(use, text)[0], timeout_ms=self._timeout_ms, most=most,
                window=timedelta(hours=1),
            )  # fmt: skip
        self._require_mailer()
        self._later(self._mail_reset(email))

    async def _mail_reset(self, email: str) -> None:
        known = await people.find(self._postgres, email, timeout_ms=self._timeout_ms)
        if known is not None:
            token = await links.new_reset(self._postgres, email, timeout_ms=self._timeout_ms)
            link = f"{self._public_url}/dashboard/reset/{token}"
            await self._send(email, "A new password for Siteglass", RESET_MAIL.format(link=link))

    async def reset(self, token: str, password: str) -> None:
        """Another password by a mailed link, and an end to all sessions; raises PeopleError."""
        link = await links.look_at(self._postgres, "reset", token, timeout_ms=self._timeout_ms)
        if link is None:
            raise PeopleError(LINK_GONE)
        check_password(password, link.email)
        hashed = await self._passwords.hash(password)
        if await links.use(self._postgres, "reset", token, timeout_ms=self._timeout_ms) is None:
            raise PeopleError(LINK_GONE)
        known = await people.find(self._postgres, link.email, timeout_ms=self._timeout_ms)
        if known is None:
            raise PeopleError(LINK_GONE)
        await people.set_password(self._postgres, known.id, hashed, None, timeout_ms=self._timeout_ms)
        await self._password_changed(known.id, known.email, None)
        await tries.forgive(self._postgres, self._bucket(known.email), timeout_ms=self._timeout_ms)

    async def change_password(self, session: Session, password: str) -> None:
        """Another password of somebody who has just given the old one, and an end to all other sessions."""
        check_password(password, session.email)
        await self._store_password(session.person_id, password, session.account_id)
        await self._password_changed(session.person_id, session.email, session.id)

    async def _store_password(
        self, person_id: int, password: str, account_id: int | None, *, noted: bool = True
    ) -> None:
        hashed = await self._passwords.hash(password)
        await people.set_password(
            self._postgres, person_id, hashed, account_id, timeout_ms=self._timeout_ms, noted=noted
        )

    async def _password_changed(self, person_id: int, email: str, but_session: int | None) -> None:
        await sessions.end_others(self._postgres, person_id, but_session, timeout_ms=self._timeout_ms)
        if self._mailer is not None:
            link = f"{self._public_url}/dashboard/forgot"
            self._later(self._send(email, "Your Siteglass password was changed", CHANGED_MAIL.format(link=link)))

    # --- invitations ------------------------------------------------------------------------------

    async def invite(self, email: str, role: str, account_id: int, account_name: str, by: tuple[str, str]) -> str:
        """Mail an invitation; returns its link, for operators. `by`: kind and id of who invites. Raises PeopleError."""
        email = people.clean_email(email)
        if not is_address(email):
            raise PeopleError("An e-mail address, such as ada@example.com.", "email")
        if role not in people.ROLES:
            raise PeopleError(f"A role is one of {', '.join(people.ROLES)}.", "role")
        self._require_mailer()
        if by[0] == "person":
            bucket = self.secrecy.marks("invitations of an account", str(account_id))[0]
            await tries.take(
                self._postgres, bucket, timeout_ms=self._timeout_ms, most=INVITATIONS_PER_HOUR,
                window=timedelta(hours=1),
            )  # fmt: skip
        token = await links.new_invitation(self._postgres, email, account_id, role, by, timeout_ms=self._timeout_ms)
        link = f"{self._public_url}/dashboard/join/{token}"
        text = INVITATION_MAIL.format(account=" ".join(account_name.split()), role=role, link=link)
        await self._send(email, "You are invited to Siteglass", text)
        return link

    async def join_as_new(self, token: str, name: str, password: str, agent: str, address: str) -> str:
        """Take up an invitation as somebody who is not known yet; returns a session. Raises PeopleError."""
        link = await links.look_at(self._postgres, "invite", token, timeout_ms=self._timeout_ms)
        if link is None:
            raise PeopleError(LINK_GONE)
        name = people.clean_name(name)
        check_password(password, link.email)
        hashed = await self._passwords.hash(password)
        if await people.find(self._postgres, link.email, timeout_ms=self._timeout_ms) is not None:
            raise PeopleError("There is a person with this address. Sign in, and open the link again.")
        link = await links.use(self._postgres, "invite", token, timeout_ms=self._timeout_ms)
        if link is None or link.account_id is None or link.role is None:
            raise PeopleError(LINK_GONE)
        person_id = await people.create(
            self._postgres, link.email, name, hashed, link.account_id, link.role, timeout_ms=self._timeout_ms
        )
        return await self._start(person_id, agent, address)

    async def join(self, token: str, session: Session, cookie: str) -> str | None:
        """Take up an invitation as who is signed in; the session looks at the new account. Raises PeopleError."""
        link = await links.look_at(self._postgres, "invite", token, timeout_ms=self._timeout_ms)
        if link is None or link.email != session.email:
            raise PeopleError(LINK_GONE)
        link = await links.use(self._postgres, "invite", token, timeout_ms=self._timeout_ms)
        if link is None or link.account_id is None or link.role is None:
            raise PeopleError(LINK_GONE)
        await people.join(self._postgres, session.person_id, link.account_id, link.role, timeout_ms=self._timeout_ms)
        return await sessions.renew(self._postgres, cookie, account_id=link.account_id, timeout_ms=self._timeout_ms)

    # --- mails ------------------------------------------------------------------------------------

    def _require_mailer(self) -> None:
        if self._mailer is None:
            raise PeopleError(f"This service sends no mails: {variable('mail_url')} is not set.")

    async def _send(self, to: str, subject: str, text: str) -> None:
        """Raises Unavailable if the mail is not taken."""
        if self._mailer is None:
            return
        try:
            await self._mailer.send(to, subject, text)
        except MailError as error:
            raise Unavailable(f"no mail can be sent: {error}", has_price=False) from None

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        """Do it after the answer, which must not tell by its time what was done. Bounded: beyond it nothing is done."""
        if len(self._mails) >= MAX_MAILS_WAITING:
            work.close()
            log.warning("mail dropped", extra={"reason": "too many wait"})
            return

        async def logged() -> None:
            try:
                await work
            except Unavailable as error:
                log.warning("mail failed", extra={"reason": error.reason})

        task = asyncio.create_task(logged())
        self._mails.add(task)
        task.add_done_callback(self._mails.discard)

    async def close(self) -> None:
        """Wait for mails that are on their way: each has a deadline."""
        await asyncio.gather(*self._mails, return_exceptions=True)
        self._passwords.close()


def lifetimes(settings: Settings) -> Lifetimes:
    """How long sessions live."""
    return Lifetimes(timedelta(minutes=settings.session_idle_minutes), timedelta(hours=settings.session_hours))
