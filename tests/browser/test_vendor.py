"""The libraries of the dashboard run under a strict policy, from our own files."""

from __future__ import annotations

import gzip
from importlib.resources import files

from playwright.sync_api import Route, expect

from tests.browser.conftest import Site
from tests.browser.driving import Browse

POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:"
PAGE = """<!doctype html>
<html lang="en">
  <head>
    <title>Trial</title>
    <link rel="icon" href="data:,">
    <meta name="htmx-config" content='{"includeIndicatorStyles": false, "allowEval": false}'>
    <link rel="stylesheet" href="/trial/uplot.min.css">
    <script defer src="/trial/uplot.iife.min.js"></script>
    <script defer src="/trial/htmx.min.js"></script>
    <script defer src="/trial/own.js"></script>
  </head>
  <body>
    <div id="chart"></div>
    <button hx-get="/trial/part" hx-target="#part">Load</button>
    <div id="part"></div>
  </body>
</html>"""
OWN = """
const series = [{}, {label: "Credits", stroke: "teal"}];
new uPlot({width: 300, height: 200, series}, [[1e9, 1e9 + 86400], [1, 2]], document.getElementById("chart"));
"""
KINDS = {"js": "text/javascript", "css": "text/css"}


def _answer(route: Route) -> None:
    name = route.request.url.partition("/trial")[2].lstrip("/")
    own = {"": (PAGE, "text/html"), "part": ("<p>Loaded</p>", "text/html"), "own.js": (OWN, "text/javascript")}
    if name in own:
        body, kind = own[name]
    else:
        vendored = files("siteglass").joinpath("dashboard", "static", "vendor", name.partition(".")[0], f"{name}.gz")
        body, kind = gzip.decompress(vendored.read_bytes()).decode(), KINDS[name.rpartition(".")[2]]
    route.fulfill(body=body, content_type=kind, headers={"Content-Security-Policy": POLICY})


def test_a_chart_is_drawn_and_a_part_is_loaded(site: Site, browse: Browse) -> None:
    page = browse.open(site.url)
    page.route("**/trial**", _answer)
    page.route("**/trial/*", _answer)
    page.goto("/trial")
    expect(page.locator("#chart .u-legend")).to_contain_text("Credits")
    assert page.locator("#chart canvas").bounding_box() is not None
    page.get_by_role("button", name="Load").click()
    expect(page.locator("#part")).to_have_text("Loaded")
