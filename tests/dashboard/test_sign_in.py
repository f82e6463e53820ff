"""Signing in and out."""

from __future__ import annotations

from tests.dashboard.visiting import SESSION, Office


def test_who_signs_in_sees_the_overview_and_after_signing_out_no_more(the_office: Office) -> None:
    who = the_office.somebody()
    visitor = the_office.visitor(who)
    page = visitor.get("/dashboard")
    assert page.status_code == 200
    assert "Ada Lovelace" in page.text
    kept = dict(visitor.cookies)
    assert visitor.post("/dashboard/sign-out").headers["location"] == "/dashboard/sign-in?done=signed-out"
    assert SESSION not in visitor.cookies
    visitor.cookies = kept
    assert visitor.get("/dashboard").headers["location"] == "/dashboard/sign-in"
