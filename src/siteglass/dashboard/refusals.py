"""Why a page is not shown: a status, a title, and what to do next. Nothing else writes these texts."""

from __future__ import annotations

from siteglass.people.problems import PeopleError, TooManyAttempts


def status_of(error: PeopleError | None) -> int:
    """The status of a form that is shown again, or of one without an error."""
    return 200 if error is None else 429 if isinstance(error, TooManyAttempts) else 422


class PageRefusal(Exception):
    """Instead of a page."""

    def __init__(self, status: int, title: str, message: str) -> None:
        super().__init__(title)
        self.status = status
        self.title = title
        self.message = message


NOT_THERE = PageRefusal(
    404, "Page not found", "The link may be outdated, or belong to another account. Start from the overview."
)
NOT_ALLOWED = PageRefusal(
    403,
    "Your role does not allow this",
    "An owner of the account can do it, or change your role under Settings, People.",
)
SIGN_IN_FIRST = PageRefusal(403, "Sign in first", "Sign in, then open this page again.")
NO_SECOND_FACTOR = PageRefusal(
    403,
    "Turn on two-step sign-in first",
    "People who run this service sign in with two steps. Turn it on under Settings, Security.",
)

AT_THE_COMPANY = PageRefusal(
    403,
    "Your company manages your sign-in",
    "Password, two-step sign-in and sessions are those of your company's account. For another account, sign in "
    "with a password.",
)


def suspended(reason: str) -> PageRefusal:
    """Of whatever costs something or shows leads; what is still allowed is above every page of such an account."""
    why = f": {reason}" if reason else ""
    message = f"The operator of this service suspended it{why}. Nothing was charged or changed."
    return PageRefusal(403, "This account is suspended", message)


NOT_FROM_HERE = PageRefusal(
    403,
    "This form was not sent from this site",
    "Nothing was changed. Open the page again and submit the form from there.",
)
FORM_TOO_OLD = PageRefusal(
    403,
    "This form has expired",
    "Nothing was changed. You may have signed in or out in the meantime: reload the page and try again.",
)
NOT_A_FORM = PageRefusal(
    415,
    "Unsupported content type",
    "Nothing was changed. This address accepts forms only. Programs use the API: see /docs.",
)
TOO_LARGE = PageRefusal(413, "The form is too large", "Nothing was changed. Shorten the text and try again.")
FILE_TOO_LARGE = PageRefusal(
    413, "The file is too large", "Nothing was kept. A file has at most 3 MB: remove columns, or split it."
)
NOT_NOW = PageRefusal(
    503,
    "Temporarily unavailable",
    "Only changes that you saw confirmed were made. Try again in a few seconds.",
)
OUR_FAULT = PageRefusal(
    500,
    "Something went wrong on our side",
    "We've logged this error. If it keeps happening, contact us with the ID below.",
)
