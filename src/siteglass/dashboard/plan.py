"""The page of an account's plan: terms, balances, what expires, how to get more, and the mail on low balances."""

from __future__ import annotations

from starlette.responses import Response

from siteglass.access.accounts import ANY_NUMBER
from siteglass.access.audit import Person
from siteglass.billing.account_status import standing
from siteglass.billing.balance_alerts import MAX_OWNERS, BalanceAlert, balance_alert, set_balance_alert
from siteglass.dashboard.forms import FormError
from siteglass.dashboard.guard import Dashboard, DeclaredPage, Visit, see_other

PLAN = "/dashboard/plan"
MICROS = 1_000_000
KINDS = (("api_below", "api"), ("lead_below", "lead"))


async def show(dashboard: Dashboard, visit: Visit) -> Response:
    """The terms in words, and what is left."""
    return await _page(dashboard, visit)


async def _page(
    dashboard: Dashboard, visit: Visit, typed: dict[str, str] | None = None, wrong: dict[str, str] | None = None
) -> Response:
    postgres, account_id = dashboard.backends.postgres, visit.who.account_id
    now = await standing(postgres, account_id)
    alert = await balance_alert(postgres, account_id)
    settings, plan = dashboard.backends.settings, now.plan
    kept = {"api_below": _as_typed(alert.api_below), "lead_below": _as_typed(alert.lead_below)}
    return dashboard.page(
        visit, "plan.html", 422 if wrong else 200, now=now, alert=alert, fields=typed or kept, wrong=wrong or {},
        prices=() if visit.is_internal else (
            ("Price of API credits", price(plan.api_price_micros, plan.currency)),
            ("Price of lead credits", price(plan.lead_price_micros, plan.currency)),
        ),
        contact=settings.sales_email, sends_mails=bool(settings.mail_url), max_owners=MAX_OWNERS,
        any_number=ANY_NUMBER,
    )  # fmt: skip


def _as_typed(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def price(micros_per_credit: int, currency: str) -> str:
    """Of 1,000 credits, with cents, and more of them only where they count."""
    if not micros_per_credit:
        return "free"
    whole, rest = divmod(micros_per_credit * 1_000, MICROS)
    cents = f"{rest:06d}".rstrip("0").ljust(2, "0")
    return f"{whole:,}.{cents} {currency} per 1,000"


async def set_alert(dashboard: Dashboard, visit: Visit) -> Response:
    """The thresholds below which owners get a mail; an empty field means no threshold."""
    numbers: dict[str, int | None] = {}
    wrong: dict[str, str] = {}
    for name, kind in KINDS:
        try:
            numbers[name] = visit.form.amount(name, label=visit.labels[kind], least=1)
        except FormError as error:
            wrong[name] = str(error)
    if wrong:
        return await _page(dashboard, visit, {name: visit.form.get(name) for name, _ in KINDS}, wrong)
    alert = BalanceAlert(numbers["api_below"], numbers["lead_below"])
    who = visit.who
    await set_balance_alert(dashboard.backends.postgres, who.account_id, alert, Person(who.person_id))
    is_off = alert == BalanceAlert()
    return see_other(f"{PLAN}?done={'alert-off' if is_off else 'alert-set'}")


PAGES = (
    DeclaredPage("plan", "GET", PLAN, show),
    DeclaredPage("plan.alert", "POST", PLAN + "/alert", set_alert, role="owner"),
)
