"""What the service says, or does not say, in words of `sgl`: its options, and what to do next."""

from __future__ import annotations

import pytest

from siteglass_client import ConnectionFailed
from siteglass_client.cli.refusals import CHECK, refused, unreached
from siteglass_client.errors import service_error

URL = "https://leads.example"


@pytest.mark.parametrize(
    ("reason", "meaning"),
    [
        ("ConnectError: [Errno -2] Name or service not known", "there is no such host. (Name or service not known)"),
        (
            "ConnectError: [SSL: WRONG_VERSION_NUMBER] wrong version number",
            "it does not use https. Is it an http:// URL? ([SSL: WRONG_VERSION_NUMBER] wrong version number)",
        ),
        ("ReadTimeout: timed out", "it did not respond in time. (timed out)"),
        (
            "a response of 9 bytes is not complete JSON",
            "the server there may not be Siteglass. (a response of 9 bytes is not complete JSON)",
        ),
        ("something new", "something new."),
    ],
)
def test_why_no_answer_came(reason: str, meaning: str) -> None:
    told = unreached(ConnectionFailed(reason), URL)
    assert told.message == f"No response from {URL}: {meaning} {CHECK}, then run the same command again."


@pytest.mark.parametrize(
    ("status", "code", "message", "told", "exit_code"),
    [
        (
            400,
            "no handler found",
            "",
            f"{URL} answered 400, but not in the way Siteglass does: it may be another service. {CHECK}.",
            2,
        ),
        (401, "", "", f"{URL} answered 401, but not in the way Siteglass does: it may be another service. {CHECK}.", 2),
        (302, "", "It redirects to 'x': use it.", f"{URL} is not the service itself. It redirects to 'x': use it.", 2),
        (502, "", "", "A proxy in front of the service answered 502. Run the same command again later.", 5),
        (
            401,
            "UNAUTHORIZED",
            "…",
            f"{URL} does not accept the key from a/file: it is wrong, expired or revoked. Run `sgl login` with a "
            "valid key, or set SITEGLASS_API_KEY.",
            3,
        ),
        (
            402,
            "INSUFFICIENT_CREDITS",
            "This needs 9. Nothing was charged. Request less at once (`limit`).",
            "This needs 9. Nothing was charged. Buy credits, then run the same command again: with -o it continues "
            "where it stopped.",
            4,
        ),
        (
            402,
            "CREDIT_CAP_EXCEEDED",
            "This needs 2; `max_lead_credits` allows 1. Nothing was charged. Request less.",
            "This needs 2; `max_lead_credits` allows 1. Nothing was charged. Raise --max-lead-credits, then run the "
            "same command again.",
            4,
        ),
        (
            402,
            "CREDIT_CAP_EXCEEDED",
            "This needs 2; the key's daily lead cap leaves 1. Nothing was charged. Request less.",
            "This needs 2; the key's daily lead cap leaves 1. Nothing was charged. Run the same command again "
            "after 00:00 UTC, when a new day begins, or ask for a higher cap for the key.",
            4,
        ),
        (
            403,
            "FORBIDDEN",
            "This key may not be used from ::1. Call from an allowed address.",
            "This key may not be used from ::1. Call from an allowed address.",
            3,
        ),
        (
            410,
            "CURSOR_EXPIRED",
            "The cursor has expired. POST the `filters`.",
            "The cursor has expired. The run was interrupted too long ago to continue. Start again: the same command "
            "with --overwrite, or another -o.",
            2,
        ),
        (
            429,
            "TOO_MANY_REQUESTS",
            "Too many requests. See a header.",
            "Too many requests. Wait 7 s, then run the same command again.",
            5,
        ),
        (
            500,
            "INTERNAL",
            "Something failed. Try again; report X-Request-Id.",
            "Something failed. Run the same command again later; if it persists, send the request ID to the operator "
            "of the service.",
            5,
        ),
    ],
)
def test_what_the_service_says_in_words_of_this_program(
    status: int, code: str, message: str, told: str, exit_code: int
) -> None:
    error = service_error(status, {"error": code, "message": message}, request_id="r-1", retry_after_s=7)
    failure = refused(error, URL, "a/file")
    assert (failure.message, failure.exit_code) == (f"{told} (request r-1)", exit_code)
