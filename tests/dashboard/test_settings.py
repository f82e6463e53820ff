"""The page Settings: the contract says that keys are managed there."""

from __future__ import annotations

import re

import pytest

from testing.dashboard.visitors import Office

SECTIONS = {
    "/dashboard/keys": "API keys",
    "/dashboard/people": "People",
    "/dashboard/plan": "Plan",
    "/dashboard/security": "Security",
    "/dashboard/audit": "Audit trail",
}


def links(html: str, part: str) -> dict[str, str]:
    """Paths and names of the links in a part of the page."""
    inside = html.partition(part)[2].partition("</ul>")[0]
    return dict(re.findall(r'<a href="([^"]+)"[^>]*>([^<]+)</a>', inside))


@pytest.mark.parametrize(("role", "sections"), [("owner", 5), ("member", 4), ("viewer", 4)])
def test_it_leads_to_keys_people_plan_security_and_audit(the_office: Office, role: str, sections: int) -> None:
    visitor = the_office.visitor(the_office.somebody(role=role))
    shown = dict(list(SECTIONS.items())[:sections])
    assert links(visitor.get("/dashboard/settings").text, 'class="sections"') == shown
    for path, name in shown.items():
        page = visitor.get(path).text
        assert links(page, 'aria-label="Settings"') == shown
        assert f'<a href="{path}" aria-current="page">{name}</a>' in page
        assert re.search(r'<a href="/dashboard/settings" aria-current="page">', page)


@pytest.mark.parametrize(
    ("path", "entry"),
    [
        ("/dashboard/explore", "Explore"),
        ("/dashboard/searches", "Searches"),
        ("/dashboard/lists/paid", "Lists"),
        ("/dashboard/downloads/uploads", "Files"),
        ("/dashboard", "Usage"),
        ("/dashboard/ledger", "Usage"),
        ("/dashboard/people", "Settings"),
    ],
)
def test_six_entries_lead_everywhere_and_help_explains_the_page(the_office: Office, path: str, entry: str) -> None:
    visitor = the_office.visitor(the_office.somebody())
    page = visitor.get(path).text
    entries = re.findall(r'<li><a href="(/dashboard/\w+)"( aria-current="page")?><svg.*?</svg>(\w+)', page, re.DOTALL)
    assert [name for _, _, name in entries[:6]] == ["Explore", "Searches", "Lists", "Files", "Usage", "Settings"]
    assert {name for _, here, name in entries if here} == {entry}
    guide, _, anchor = re.findall(r'<a class="at-end" href="([^"]+)">Help</a>', page)[0].partition("#")
    help_page = visitor.get(guide)
    assert help_page.status_code == 200
    assert not anchor or f'id="{anchor}"' in help_page.text


def test_other_pages_have_no_tabs(the_office: Office) -> None:
    page = the_office.visitor(the_office.somebody()).get("/dashboard/usage").text
    assert 'aria-label="Settings"' not in page
    assert '<a href="/dashboard/settings">' in page
