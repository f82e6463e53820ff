"""How long people wait on the Explore page of a running service, measured in Chromium: from Enter to chips and counts.

    PYTHONPATH=scripts python -m bench.explore --url $BASE_URL --email $DASHBOARD_EMAIL \\
        --password $DASHBOARD_PASSWORD [--rounds 20] [--keep]

Nothing is bought. `chips` ends with the frame that shows the conditions, `counts` with the one that shows how many
leads match, `filters` with the one that shows the facets.
"""

from __future__ import annotations

import argparse
from typing import Any

from playwright.sync_api import Page, sync_playwright

import browser as chromium
from bench.common import spread, write_result

AIMS_MS = {"chips": 150, "counts": 400}
WARM_UP = 2
WIDTH, HEIGHT = 1440, 900
SENTENCES = (
    "dentists in Austin without online booking",
    "Shopify stores in Germany, Austria and Switzerland that spend over 5k and load slowly",
    "agencies in London on WordPress with LinkedIn",
    "roofers in Florida with bad SEO",
    "hotels in Italy without a booking system",
    "WordPress sites in the United States",
)
"""The last one matches most of an index."""

# Each part counts from the Enter key to the frame after the one in which it is first there. The page replaces
# `#explore` as a whole, so the old one is marked.
_WAIT = """() => new Promise((resolve, reject) => {
    const parts = {chips: ".chips > li", counts: ".counts strong, .empty-title", filters: ".facet-lines .number"};
    document.querySelector("#explore").dataset.old = "";
    const seen = {};
    let started;
    const look = () => {
        const page = document.querySelector("#explore:not([data-old])");
        for (const [name, selector] of Object.entries(page ? parts : {})) {
            if (!(name in seen) && page.querySelector(selector)) {
                requestAnimationFrame((now) => { seen[name] = Math.max(now, performance.now()) - started; });
                seen[name] = null;
            }
        }
        if (Object.values(seen).filter(Number).length === Object.keys(parts).length) resolve(seen);
        else if (performance.now() - started > 60000) reject(new Error("nothing came: " + JSON.stringify(seen)));
        else requestAnimationFrame(look);
    };
    document.addEventListener("keydown", (event) => {
        if (event.key !== "Enter") return;
        started = performance.now();
        requestAnimationFrame(look);
    }, {once: true, capture: true});
})"""


def sign_in(page: Page, email: str, password: str) -> None:
    """From the first page to Explore."""
    page.goto("/dashboard/sign-in")
    page.get_by_label("Email address").fill(email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Explore").wait_for()


def search_once(page: Page, sentence: str) -> dict[str, float]:
    """Milliseconds from Enter to each part of the page."""
    box = page.get_by_label("Describe the leads you want")
    box.fill(sentence)
    box.focus()
    page.evaluate(f"void (window.__wait = ({_WAIT})())")
    page.keyboard.press("Enter")
    times: dict[str, float] = page.evaluate("window.__wait")
    return times


def measure(page: Page, rounds: int) -> dict[str, dict[str, dict[str, float]]]:
    """Median and quartiles of each sentence and part, in turns."""
    taken: dict[str, dict[str, list[float]]] = {
        sentence: {part: [] for part in ("chips", "counts", "filters")} for sentence in SENTENCES
    }
    for number in range(WARM_UP + rounds):
        for sentence in SENTENCES:
            times = search_once(page, sentence)
            if number >= WARM_UP:
                for part, took_ms in times.items():
                    taken[sentence][part].append(took_ms)
    return {sentence: {part: spread(took) for part, took in parts.items()} for sentence, parts in taken.items()}


def run(url: str, email: str, password: str, rounds: int) -> dict[str, Any]:
    """Open the browser, sign in and measure."""
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=chromium.PROGRAM, args=list(chromium.FLAGS))
        page = started.new_page(base_url=url, viewport={"width": WIDTH, "height": HEIGHT})
        page.set_default_timeout(60_000)
        sign_in(page, email, password)
        figures = measure(page, rounds)
        started.close()
    slowest = {part: max(parts[part]["median"] for parts in figures.values()) for part in AIMS_MS}
    return {"rounds": rounds, "aims_ms": AIMS_MS, "slowest_median_ms": slowest, "milliseconds": figures}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True)
    parser.add_argument("--email", required=True)
    parser.add_argument("--password", required=True)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--keep", action="store_true", help="write the result to bench/results")
    options = parser.parse_args()
    figures = run(options.url, options.email, options.password, options.rounds)
    write_result("explore", figures, f"python -m bench.explore --rounds {options.rounds}", keep=options.keep)


if __name__ == "__main__":
    main()
