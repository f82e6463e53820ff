"""Operation: people sign in, ask for a new password, are invited and join; the mails that belong to it.

Unknown people get the same responses as known ones, after the same time: the same steps run, and mails are sent later.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from siteglass.errors import Unavailable
from siteglass.people import attempts as tries
from siteglass.people import credentials, links, people, sessions
from siteglass.people.failed_sign_ins import FailedSignIns
from siteglass.people.mails import Letters
from siteglass.people.passwords import Passwords, check_password
from siteglass.people.people import SignInRecord
from siteglass.people.problems import PeopleError, TooManyAttempts
from siteglass.people.second_factor import SecondFactors
from siteglass.people.secrecy import Secrecy, bucket, digest, new_token
from siteglass.people.sessions import Browser, Lifetimes, Session
from siteglass.platform.backends import Backends
from siteglass.platform.mailer import Mailer, is_address
from siteglass.platform.outgoing import Guard
from siteglass.settings import Settings
from siteglass.web.address import household, public_url

if TYPE_CHECKING:
    from siteglass.people.company_sign_in import CompanySignIn

CODE_STEP_LIFE_S = 300
KNOWN_LIFE_S = 180 * 86_400
DEMO_LINK_LIFE = timedelta(minutes=10)
_CODE_USE = "sign-in step"
_KNOWN_USE = "known browser"
_DEMO_USE = "demo link"

HOUR = timedelta(hours=1)
# All sign-ins from an address, also those that succeed: each takes a core for a while.
SIGN_INS_OF_ADDRESS = 300
RESETS_OF_PERSON, RESETS_FROM_ADDRESS, RESETS_OF_ADDRESS = 20, 5, 50
INVITATIONS_OF_ACCOUNT = 30

WRONG = "The email address and password do not match. Try again, or reset your password."
WRONG_CODE = "That code is wrong or was already used. Wait for the next one, or use a recovery code."
CHANGED = "Your password was changed in the meantime. Sign in with the new one."
NO_INVITATION = "You enter this account with your company's account, without an invitation: choose it at the sign-in."
DEMO_LINK_GONE = "A link of the demo works once, for ten minutes. Print a new one: siteglass demo link"

RESET_MAIL = """\
Somebody, most likely you, requested a new password for Siteglass.

Choose it within one hour:
{link}

If it was not you, ignore this email: your password stays the same.
"""
INVITATION_MAIL = """\
You have been invited to join {account} on Siteglass as {role}.

Accept the invitation within seven days:
{link}

If you did not expect this invitation, ignore this email.
"""
CHANGED_MAIL = """\
Your Siteglass password was changed, and all your other sessions were signed out.

If it was not you, reset your password now: {link}
"""
NEW_BROWSER_MAIL = """\
Somebody, most likely you, signed in to Siteglass from a browser that you have not used before.
The address was {address}.

If it was not you, reset your password now: {link}
"""
FACTOR_MAIL = """\
Two-step sign-in was turned {state} for your Siteglass account.

If it was not you, reset your password now: {link}
Then look at your sessions and keys, and set two-step sign-in up again.
"""
KEY_MAIL = """\
{by} created an API key for {account} on Siteglass, the one that ends in {end}.

If nobody should have, revoke the key on the page Keys. If that is your address, reset your password now: {link}
"""


@dataclass(frozen=True, slots=True)
class PasswordResult:
    """Whom the password let through: a session, or a step that waits for a code."""

    token: str = ""
    """What the session's cookie holds."""
    known: str = ""
    """What the browser keeps from now on."""
    step: str = ""
    """What the form for the code carries."""


class SignIn:
    """Sign-in of one worker."""

    def __init__(self, backends: Backends, secrecy: Secrecy, passwords: Passwords, mailer: Mailer | None) -> None:
        settings = backends.settings
        self._backends = backends
        self._postgres = backends.postgres
        self._passwords = passwords
        self._letters = Letters(mailer)
        self._public_url = public_url(settings)
        self.secrecy = secrecy
        self.failures = FailedSignIns(self._postgres)
        self.factors = SecondFactors(self._postgres, secrecy)
        self.lifetimes = lifetimes(settings)

    @cached_property
    def company(self) -> CompanySignIn:
        """Sign-in with a company's account. Its libraries are loaded where somebody signs in so."""
        from siteglass.people.company_sign_in import CompanySignIn
        from siteglass.people.openid import OpenId

        openid = OpenId(Guard(self._backends.settings.outgoing_allowed))
        return CompanySignIn(self._postgres, self.secrecy, self._passwords, openid, self._public_url)

    async def close(self) -> None:
        """Finish what is under way."""
        await self._letters.close()
        self._passwords.close()

    # --- in ---------------------------------------------------------------------------------------

    async def with_password(self, email: str, password: str, browser: Browser) -> PasswordResult:
        """The first step; raises PeopleError, the same for a wrong password and an unknown address."""
        email = people.clean_email(email)
        await self._take("sign-ins of an address", household(browser.address), SIGN_INS_OF_ADDRESS)
        taken = [
            await self._take("tries from an address", household(browser.address), tries.MOST_OF_ADDRESS),
            await self._take(*self._counted_under(email, browser)),
        ]
        known = await people.find(self._postgres, email)
        if not await self._passwords.matches(known.password if known else None, password) or known is None:
            if known is not None:
                self.failures.count(known.id, browser.address)
            raise PeopleError(WRONG)
        await self._give_back(taken)
        if known.has_second_factor:
            step = [known.id, digest(known.password).hex()]
            return PasswordResult(step=self.secrecy.seal_token(_CODE_USE, step, self._now_s() + CODE_STEP_LIFE_S))
        passed = await self._start(known, browser)
        if self._passwords.is_outdated(known.password):
            anew = await self._passwords.hash(password)
            await credentials.rehash(self._postgres, known.id, known.password, anew)
        return passed

    async def with_code(self, step: str, code: str, browser: Browser) -> PasswordResult:
        """The second step; raises PeopleError."""
        opened = self.secrecy.open_token(_CODE_USE, step, self._now_s())
        if opened is None:
            raise PeopleError("That took too long. Sign in again.")
        person_id, password = opened
        known = await people.of_id(self._postgres, person_id)
        if known is None or digest(known.password).hex() != password:
            raise PeopleError(CHANGED)
        try:
            await self._prove_code(person_id, code, "codes at sign-in")
        except PeopleError:
            self.failures.count(person_id, browser.address)
            raise
        return await self._start(known, browser)

    async def with_demo_link(self, token: str, browser: Browser) -> PasswordResult:
        """Sign in with a link of `new_demo_link`, once; raises PeopleError."""
        opened = self.secrecy.open_token(_DEMO_USE, token, self._now_s())
        if opened is None:
            raise PeopleError(DEMO_LINK_GONE)
        (email,) = opened
        try:
            # A token has one form only. It is remembered for longer than it lives, by the clocks of two machines.
            await self._take(_DEMO_USE, token, most=1, window=2 * DEMO_LINK_LIFE)
        except TooManyAttempts:
            raise PeopleError(DEMO_LINK_GONE) from None
        known = await people.find(self._postgres, email)
        if known is None:
            raise PeopleError(DEMO_LINK_GONE)
        return await self._start(known, browser)

    async def prove_again(self, session: Session, cookie: str, password: str, code: str) -> str | None:
        """The password once more, before something that matters; a new id for the session. Raises PeopleError.

        Counted by itself: what strangers try at the sign-in must not keep somebody from revoking a key.
        """
        taken = await self._take("proofs of a person", str(session.person_id))
        known = await people.of_id(self._postgres, session.person_id)
        if not await self._passwords.matches(known.password if known else None, password):
            raise PeopleError("That password is wrong.", "password")
        await self._give_back([taken])
        if session.has_second_factor:
            await self._prove_code(session.person_id, code, "codes of who is signed in")
        return await sessions.renew(self._postgres, cookie, proven=True)

    async def _prove_code(self, person_id: int, code: str, counted: str) -> None:
        taken = await self._take(counted, str(person_id))
        if not await self.factors.is_code(person_id, code, self._backends.clock.now_ms() / 1000):
            raise PeopleError(WRONG_CODE, "code")
        await self._give_back([taken])

    async def _start(self, known: SignInRecord, browser: Browser) -> PasswordResult:
        accounts = await people.accounts_of(self._postgres, known.id)
        if not accounts:
            if await people.enters_through_provider(self._postgres, known.id):
                raise PeopleError("Sign in with your company's account: your password does not open your account here.")
            raise PeopleError("You no longer belong to an account. Ask its owner for an invitation.")
        token = await sessions.start(
            self._postgres, known.id, known.password, accounts[0].account_id, browser.agent, browser.address,
        )  # fmt: skip
        if token is None:
            raise PeopleError(CHANGED)
        signed_in_before = await sessions.note_sign_in(self._postgres, known.id)
        if signed_in_before and not self._secret_of_browser(known.email, browser):
            self._tell(known.email, "New sign-in to Siteglass", NEW_BROWSER_MAIL, address=browser.address)
        keeps = self.secrecy.seal_token(_KNOWN_USE, [known.email, new_token()], self._now_s() + KNOWN_LIFE_S)
        return PasswordResult(token, keeps)

    def _counted_under(self, email: str, browser: Browser) -> tuple[str, str]:
        """A browser in which the person has signed in before has a separate count, which strangers cannot use up."""
        secret = self._secret_of_browser(email, browser)
        return ("tries of a known browser", f"{email} {secret}") if secret else ("tries of a person", email)

    def _secret_of_browser(self, email: str, browser: Browser) -> str:
        """What a browser got when the person signed in there before; empty if they did not."""
        opened = self.secrecy.open_token(_KNOWN_USE, browser.known, self._now_s()) if browser.known else None
        return opened[1] if opened is not None and opened[0] == email else ""

    def _now_s(self) -> int:
        return self._backends.clock.now_ms() // 1000

    async def _take(
        self, use: str, text: str, most: int = tries.MOST, window: timedelta = tries.WINDOW
    ) -> tries.Attempt:
        """Count a try; raises TooManyTries."""
        under = bucket(use, text)
        return await tries.take(self._postgres, under, most=most, window=window)

    async def _give_back(self, taken: list[tries.Attempt]) -> None:
        for one in taken:
            await tries.give_back(self._postgres, one)

    # --- a new password ---------------------------------------------------------------------------

    async def ask_for_reset(self, email: str, address: str) -> None:
        """Mail a link, if there is such a person; the response does not reveal whether there is. Raises
        TooManyTries."""
        email = people.clean_email(email)
        # A single sender is refused before the person's count is used up, so that one alone cannot block a person.
        await self._take("resets from an address", household(address), RESETS_OF_ADDRESS, HOUR)
        await self._take(
            "resets of a person from an address", f"{household(address)} {email}", RESETS_FROM_ADDRESS, HOUR
        )
        await self._take("resets of a person", email, RESETS_OF_PERSON, HOUR)
        self._letters.require()
        self._letters.later(self._mail_reset(email))

    async def _mail_reset(self, email: str) -> None:
        known = await people.find(self._postgres, email)
        if known is not None:
            token = await links.new_reset(self._postgres, email)
            link = f"{self._public_url}/dashboard/reset/{token}"
            await self._letters.send(email, "Reset your Siteglass password", RESET_MAIL.format(link=link))

    async def reset(self, token: str, password: str) -> None:
        """Another password by a mailed link, and an end to all sessions; raises PeopleError."""
        link = await links.look_at(self._postgres, "reset", token)
        if link is None:
            raise PeopleError(credentials.LINK_GONE)
        check_password(password, link.email)
        hashed = await self._passwords.hash(password)
        person_id, email = await credentials.reset_password(self._postgres, token, hashed)
        for use, text in (("tries of a person", email), ("codes at sign-in", str(person_id))):
            await tries.forgive(self._postgres, bucket(use, text))
        self._tell_of_change(email)

    async def change_password(self, session: Session, password: str) -> None:
        """Another password of somebody who has just given the old one, and an end to all other sessions."""
        check_password(password, session.email)
        hashed = await self._passwords.hash(password)
        await credentials.change_password(self._postgres, session.person_id, hashed, session.id)
        self._tell_of_change(session.email)

    def _tell_of_change(self, email: str) -> None:
        self._tell(email, "Your Siteglass password was changed", CHANGED_MAIL)

    def tell_of_factor(self, email: str, state: Literal["on", "off"]) -> None:
        """Mail somebody that their second factor was set up or taken off."""
        self._tell(email, f"Two-step sign-in was turned {state}", FACTOR_MAIL, state=state)

    def tell_of_key(self, who: Session, key: str) -> None:
        """Mail somebody that they created an API key, and the owners of the account."""

        async def tell() -> None:
            owners = await people.owners(self._postgres, who.account_id)
            account = " ".join(who.account_name.split())
            for email in dict.fromkeys([who.email, *owners]):
                # Each by itself: one who takes no mail must not keep it from the others.
                self._tell(email, "An API key was created", KEY_MAIL, by=who.email, account=account, end=key[-4:])

        self._letters.later(tell())

    def _tell(self, email: str, subject: str, text: str, **values: str) -> None:
        """Mail somebody what changed their security, after the answer."""
        text = text.format(link=f"{self._public_url}/dashboard/forgot", **values)
        self._letters.later(self._letters.send(email, subject, text))

    # --- invitations ------------------------------------------------------------------------------

    async def invite(self, email: str, role: str, account_id: int, account_name: str, by: tuple[str, str]) -> str:
        """Mail an invitation; returns its link, for operators. `by`: kind and id of the inviter. Raises PeopleError.

        Operators can hand the link over themselves; people never see it, so they need a service that sends mails.
        """
        email = people.clean_email(email)
        if not is_address(email):
            raise PeopleError("Enter an email address, such as ada@example.com.", "email")
        if role not in people.ROLES:
            raise PeopleError(f"The role must be one of {', '.join(people.ROLES)}.", "role")
        if by[0] == "person":
            self._letters.require()
            await self._take("invitations of an account", str(account_id), INVITATIONS_OF_ACCOUNT, HOUR)
        token = await links.new_invitation(self._postgres, email, account_id, role, by)
        link = f"{self._public_url}/dashboard/join/{token}"
        text = INVITATION_MAIL.format(account=" ".join(account_name.split()), role=role, link=link)
        try:
            await self._letters.send(email, "You have been invited to Siteglass", text)
        except Unavailable:
            await links.drop(self._postgres, token)
            raise
        return link

    async def join_as_new(self, token: str, name: str, password: str, browser: Browser) -> PasswordResult:
        """Take up an invitation as somebody who is not known yet, and sign in. Raises PeopleError."""
        link = await links.look_at(self._postgres, "invite", token)
        if link is None:
            raise PeopleError(credentials.LINK_GONE)
        if await people.is_through_provider(self._postgres, link.account_id, None):
            raise PeopleError(NO_INVITATION)
        name = people.clean_name(name)
        check_password(password, link.email)
        hashed = await self._passwords.hash(password)
        person_id = await credentials.join_as_new(self._postgres, token, name, hashed)
        return await self._start(SignInRecord(person_id, link.email, hashed, has_second_factor=False), browser)

    async def join(self, token: str, session: Session, cookie: str) -> str | None:
        """Take up an invitation as who is signed in; the session looks at the new account. Raises PeopleError."""
        link = await links.look_at(self._postgres, "invite", token)
        if link is not None and await people.is_through_provider(self._postgres, link.account_id, session.person_id):
            raise PeopleError(NO_INVITATION)
        account_id = await credentials.join(self._postgres, token, session.person_id, session.email)
        return await sessions.renew(self._postgres, cookie, account_id=account_id)


def new_demo_link(secrecy: Secrecy, email: str, now_s: int) -> str:
    """The token of a link that signs this person in, once, within ten minutes."""
    return secrecy.seal_token(_DEMO_USE, [email], now_s + int(DEMO_LINK_LIFE.total_seconds()))


def lifetimes(settings: Settings) -> Lifetimes:
    """How long sessions live."""
    return Lifetimes(timedelta(minutes=settings.session_idle_minutes), timedelta(hours=settings.session_hours))
