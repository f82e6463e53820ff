"""The page of what concerns oneself: name, password, second factor, and where one is signed in."""

from __future__ import annotations

import segno
from markupsafe import Markup
from starlette.responses import Response

from siteglass.dashboard.guard import SET_UP, SIGN_IN, Dashboard, DeclaredPage, Visit, see_other
from siteglass.dashboard.refusals import NOT_THERE
from siteglass.dashboard.sign_in import MAX_PASSWORD_CHARS
from siteglass.people import people, sessions
from siteglass.people.passwords import MIN_CHARS
from siteglass.people.problems import PeopleError
from siteglass.people.second_factor import address_of, new_secret, step_of

HERE = "/dashboard/security"
_SET_UP_USE = "second factor set-up"
SET_UP_LIFE_S = 1_800

# What a browser calls itself, from the most special to the most common: many name others as well.
_BROWSERS = (("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("Chrome", "Chrome"), ("Safari", "Safari"))
_SYSTEMS = (
    *(("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows")),
    *(("Mac OS", "Mac"), ("CrOS", "ChromeOS"), ("Linux", "Linux")),
)


def device(agent: str) -> str:
    """A browser in a few words, such as "Firefox on Windows"; other programs by their own name."""
    browser = next((name for sign, name in _BROWSERS if sign in agent), "")
    system = next((name for sign, name in _SYSTEMS if sign in agent), "")
    if not browser:
        return agent[:40] or "unknown"
    return f"{browser} on {system}" if system else browser


async def show(dashboard: Dashboard, visit: Visit) -> Response:
    """All of it."""
    return await _page(dashboard, visit)


async def _page(dashboard: Dashboard, visit: Visit, error: PeopleError | None = None, name: str = "") -> Response:
    who, postgres = visit.who, dashboard.backends.postgres
    here = await sessions.of_person(postgres, who.person_id, dashboard.sign_in.lifetimes)
    codes_left = await dashboard.sign_in.factors.recovery_codes_left(who.person_id) if who.has_second_factor else 0
    return dashboard.page(
        visit, "security.html", 422 if error else 200, sessions=here, device=device, codes_left=codes_left,
        least=MIN_CHARS, name=name or who.name, field=error.field if error else "", problem=str(error or ""),
        lifetimes=dashboard.sign_in.lifetimes,
    )  # fmt: skip


async def set_name(dashboard: Dashboard, visit: Visit) -> Response:
    """Another name."""
    given = visit.form.get("name")[:1_000]
    try:
        name = people.clean_name(given)
    except PeopleError as error:
        return await _page(dashboard, visit, error, given)
    await people.set_name(dashboard.backends.postgres, visit.who.person_id, name)
    return see_other(f"{HERE}?done=name-changed")


async def set_password(dashboard: Dashboard, visit: Visit) -> Response:
    """Another password."""
    try:
        await dashboard.sign_in.change_password(visit.who, visit.form.get("password")[:MAX_PASSWORD_CHARS])
    except PeopleError as error:
        return await _page(dashboard, visit, error)
    return see_other(f"{HERE}?done=password-changed")


async def show_set_up(dashboard: Dashboard, visit: Visit) -> Response:
    """A new secret as a picture for an authenticator; it counts once a code of it has come back."""
    if visit.who.has_second_factor:
        return see_other(HERE)
    return _set_up_page(dashboard, visit, new_secret())


def _set_up_page(dashboard: Dashboard, visit: Visit, secret: str, problem: str = "") -> Response:
    expires_s = dashboard.backends.clock.now_ms() // 1000 + SET_UP_LIFE_S
    sealed = dashboard.sign_in.secrecy.seal_token(_SET_UP_USE, [visit.who.person_id, secret], expires_s)
    picture = segno.make(address_of(secret, visit.who.email), error="m", micro=False)
    svg = picture.svg_inline(omitsize=True, border=3, svgclass=None, lineclass=None, title="QR code for authenticators")
    return dashboard.page(
        visit, "second_factor.html", 422 if problem else 200, problem=problem, sealed=sealed,
        picture=Markup(svg),  # noqa: S704 - made of squares by us
        secret=" ".join(secret[at : at + 4] for at in range(0, len(secret), 4)),
    )  # fmt: skip


async def set_up(dashboard: Dashboard, visit: Visit) -> Response:
    """The code that proves that the authenticator has the secret; then the recovery codes, once."""
    opened = dashboard.sign_in.secrecy.open_token(
        _SET_UP_USE, visit.form.get("sealed"), dashboard.backends.clock.now_ms() // 1000
    )
    if opened is None or opened[0] != visit.who.person_id:
        return see_other(SET_UP)
    secret: str = opened[1]
    step = step_of(secret, visit.form.get("code"), dashboard.backends.clock.now_ms() / 1000)
    if step is None:
        return _set_up_page(dashboard, visit, secret, "That code does not match. Is the clock of your phone right?")
    codes = await dashboard.sign_in.factors.set_up(visit.who.person_id, visit.who.id, secret, step)
    if codes is None:
        return see_other(HERE)
    dashboard.sign_in.tell_of_factor(visit.who.email, "on")
    return dashboard.page(visit, "recovery_codes.html", codes=codes, is_new=True)


async def renew_codes(dashboard: Dashboard, visit: Visit) -> Response:
    """New recovery codes, shown once; those before work no more."""
    if not visit.who.has_second_factor:
        raise NOT_THERE
    codes = await dashboard.sign_in.factors.renew_recovery_codes(visit.who.person_id)
    return dashboard.page(visit, "recovery_codes.html", codes=codes, is_new=False)


async def take_off(dashboard: Dashboard, visit: Visit) -> Response:
    """No second factor any more."""
    await dashboard.sign_in.factors.take_off(visit.who.person_id)
    dashboard.sign_in.tell_of_factor(visit.who.email, "off")
    return see_other(f"{HERE}?done=second-factor-off")


async def end_session(dashboard: Dashboard, visit: Visit) -> Response:
    """End one session; one's own is a sign-out."""
    who, number = visit.who, visit.number("session_id")
    if not await sessions.end(dashboard.backends.postgres, who.person_id, number):
        raise NOT_THERE
    if number == who.id:
        visit.sign_in_as(None)
        return see_other(f"{SIGN_IN}?done=signed-out")
    return see_other(f"{HERE}?done=session-ended")


async def end_others(dashboard: Dashboard, visit: Visit) -> Response:
    """End all sessions but this one."""
    who = visit.who
    await sessions.end_others(dashboard.backends.postgres, who.person_id, who.id)
    return see_other(f"{HERE}?done=sessions-ended")


PAGES = (
    DeclaredPage("security", "GET", HERE, show),
    DeclaredPage("security.name", "POST", HERE + "/name", set_name),
    DeclaredPage("security.password", "POST", HERE + "/password", set_password, fresh=True),
    DeclaredPage("security.set_up", "GET", SET_UP, show_set_up, fresh=True),
    DeclaredPage("security.set_up.code", "POST", SET_UP, set_up, fresh=True),
    DeclaredPage("security.recovery_codes", "POST", HERE + "/recovery-codes", renew_codes, fresh=True),
    DeclaredPage("security.take_off", "POST", SET_UP + "/off", take_off, fresh=True),
    DeclaredPage("security.sessions.end_others", "POST", HERE + "/sessions/end-others", end_others),
    DeclaredPage("security.sessions.end", "POST", HERE + "/sessions/{session_id}/end", end_session),
)
