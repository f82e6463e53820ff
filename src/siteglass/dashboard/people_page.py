"""The pages of an account's people: who belongs to it, who is invited, what each may do, and how they leave."""

from __future__ import annotations

from starlette.responses import Response

from siteglass.access.browsing import set_daily_cap
from siteglass.dashboard.forms import FormError
from siteglass.dashboard.guard import SIGN_IN, Dashboard, DeclaredPage, Visit, see_other
from siteglass.dashboard.refusals import NOT_THERE, status_of
from siteglass.dashboard.sign_in import MAX_EMAIL_CHARS
from siteglass.people import links, people
from siteglass.people.members import Member, find_member, members_page
from siteglass.people.people import ROLES
from siteglass.people.problems import PeopleError

PEOPLE = "/dashboard/people"
INVITE = PEOPLE + "/invite"
LEAVE = PEOPLE + "/leave"
ONE = PEOPLE + "/{person_id}"
PAGE_PEOPLE = 100

OFFERED_ROLES = (
    ("viewer", "Viewer", "Can see everything except the audit trail, and change nothing."),
    ("member", "Member", "Can also get leads, and create, rotate and revoke API keys."),
    ("owner", "Owner", "Can also invite and remove people, and set the low-balance email."),
)


async def show(dashboard: Dashboard, visit: Visit) -> Response:
    """Who is here, a page at a time; to owners also who is invited."""
    postgres, account_id = dashboard.backends.postgres, visit.who.account_id
    asked = visit.query.number("page") if visit.query.get("page") else 1
    page = asked and await members_page(postgres, account_id, asked, size=PAGE_PEOPLE)
    if not page:
        raise NOT_THERE
    is_owner = visit.may("owner")
    waiting = await links.invitations_of(postgres, account_id) if is_owner else []
    return dashboard.page(visit, "people.html", page=page, waiting=waiting)


# --- invitations --------------------------------------------------------------------------------


async def show_invite(dashboard: Dashboard, visit: Visit) -> Response:
    """The form."""
    return _invite_form(dashboard, visit)


def _invite_form(
    dashboard: Dashboard, visit: Visit, email: str = "", role: str = "member", error: PeopleError | None = None
) -> Response:
    return dashboard.page(
        visit, "people_invite.html", status_of(error), email=email, role=role, offered=OFFERED_ROLES,
        problem=str(error or ""), field=error.field if error else "",
        sends_mails=bool(dashboard.backends.settings.mail_url),
    )  # fmt: skip


async def invite(dashboard: Dashboard, visit: Visit) -> Response:
    """Mail an invitation."""
    if not dashboard.backends.settings.mail_url:
        return _invite_form(dashboard, visit)
    who, email, role = visit.who, visit.form.get("email")[:MAX_EMAIL_CHARS], visit.form.get("role")
    try:
        if role not in ROLES:
            raise PeopleError("Choose one of these options.", "role")
        by = ("person", str(who.person_id))
        await dashboard.sign_in.invite(email, role, who.account_id, who.account_name, by)
    except PeopleError as error:
        return _invite_form(dashboard, visit, email, role, error)
    return see_other(f"{PEOPLE}?done=invited")


async def withdraw(dashboard: Dashboard, visit: Visit) -> Response:
    """Take an invitation back."""
    who = visit.who
    if not await links.withdraw(
        dashboard.backends.postgres, who.account_id, visit.number("link_id"), who.person_id,
    ):  # fmt: skip
        raise NOT_THERE
    return see_other(f"{PEOPLE}?done=withdrawn")


async def require_second_factor(dashboard: Dashboard, visit: Visit) -> Response:
    """Require a second factor of everybody in the account, or no longer."""
    who, required = visit.who, visit.form.get("required") == "1"
    if required and not who.has_second_factor:
        raise PeopleError("Turn two-step sign-in on for yourself first, on the page Security. Nothing was changed.")
    await people.require_second_factor(dashboard.backends.postgres, who.account_id, who.person_id, required=required)
    return see_other(f"{PEOPLE}?done={'factor-required' if required else 'factor-optional'}")


# --- roles, and the end -------------------------------------------------------------------------


async def _member(dashboard: Dashboard, visit: Visit) -> Member:
    """The person that the path names, if they belong to the account; raises Refused."""
    member = await find_member(dashboard.backends.postgres, visit.who.account_id, visit.number("person_id"))
    if member is None:
        raise NOT_THERE
    return member


async def show_one(dashboard: Dashboard, visit: Visit) -> Response:
    """A person, to change what they may do, or to remove."""
    return _one(dashboard, visit, await _member(dashboard, visit))


def _one(
    dashboard: Dashboard, visit: Visit, member: Member, role: str = "", field: str = "", problem: str = ""
) -> Response:
    return dashboard.page(
        visit, "person.html", 422 if problem else 200, member=member, role=role or member.role, field=field,
        problem=problem, offered=OFFERED_ROLES, typed_cap=visit.form.get("daily_lead_cap"),
    )  # fmt: skip


async def set_role(dashboard: Dashboard, visit: Visit) -> Response:
    """Let a person do more or less."""
    member, role, who = await _member(dashboard, visit), visit.form.get("role"), visit.who
    if role not in ROLES:
        return _one(dashboard, visit, member, field="role", problem="Choose one of these options.")
    if role != member.role:
        try:
            await people.set_role(
                dashboard.backends.postgres, who.account_id, member.person_id, role, who.person_id,
            )  # fmt: skip
        except PeopleError as error:
            return _one(dashboard, visit, member, role, "role", str(error))
    return see_other(f"{PEOPLE}?done=role-changed")


async def set_cap(dashboard: Dashboard, visit: Visit) -> Response:
    """Limit what a person spends per day in the browser."""
    member, who = await _member(dashboard, visit), visit.who
    try:
        cap = visit.form.amount("daily_lead_cap", label=f"{visit.labels['lead']} per day")
    except FormError as error:
        return _one(dashboard, visit, member, field="daily_lead_cap", problem=str(error))
    await set_daily_cap(
        dashboard.backends.postgres, who.account_id, member.person_id, member.name, cap, who.person_id,
    )  # fmt: skip
    return see_other(f"{PEOPLE}?done=cap-set")


async def remove(dashboard: Dashboard, visit: Visit) -> Response:
    """Take a person out of the account."""
    member = await _member(dashboard, visit)
    if member.person_id == visit.who.person_id:
        return see_other(LEAVE)
    try:
        await _take_out(dashboard, visit, member.person_id)
    except PeopleError as error:
        return _one(dashboard, visit, member, field="remove", problem=str(error))
    return see_other(f"{PEOPLE}?done=removed")


async def _take_out(dashboard: Dashboard, visit: Visit, person_id: int) -> None:
    who = visit.who
    await people.remove(dashboard.backends.postgres, who.account_id, person_id, who.person_id)


async def show_leave(dashboard: Dashboard, visit: Visit) -> Response:
    """What leaving means."""
    return dashboard.page(visit, "people_leave.html", problem="")


async def leave(dashboard: Dashboard, visit: Visit) -> Response:
    """Go, unless nobody would be owner; the session goes with it."""
    try:
        await _take_out(dashboard, visit, visit.who.person_id)
    except PeopleError as error:
        return dashboard.page(visit, "people_leave.html", 422, problem=str(error))
    visit.sign_in_as(None)
    return see_other(f"{SIGN_IN}?done=left")


# Fixed paths before the one that names a person.
PAGES = (
    DeclaredPage("people", "GET", PEOPLE, show),
    DeclaredPage("people.invite.form", "GET", INVITE, show_invite, role="owner", fresh=True),
    DeclaredPage("people.invite", "POST", INVITE, invite, role="owner", fresh=True),
    DeclaredPage(
        "people.withdraw", "POST", PEOPLE + "/invitations/{link_id}/withdraw", withdraw, role="owner", fresh=True
    ),
    DeclaredPage(
        "people.second_factor", "POST", PEOPLE + "/second-factor", require_second_factor, role="owner", fresh=True
    ),
    DeclaredPage("people.leave.ask", "GET", LEAVE, show_leave, fresh=True),
    DeclaredPage("people.leave", "POST", LEAVE, leave, fresh=True),
    DeclaredPage("person", "GET", ONE, show_one, role="owner", fresh=True),
    DeclaredPage("person.role", "POST", ONE + "/role", set_role, role="owner", fresh=True),
    DeclaredPage("person.cap", "POST", ONE + "/cap", set_cap, role="owner", fresh=True),
    DeclaredPage("person.remove", "POST", ONE + "/remove", remove, role="owner", fresh=True),
)
