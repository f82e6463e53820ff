// Recent searches stay in this browser: the service stores no search that nobody saved. Signing out forgets them.
"use strict";

const RECENT = "siteglass-recent";
const MAX_RECENT = 5;

// Those of the person and account that the page is for.
function recent(page) {
  try {
    const kept = JSON.parse(localStorage.getItem(RECENT));
    return kept.of === page.dataset.of && Array.isArray(kept.searches) ? kept.searches : [];
  } catch {
    return [];
  }
}

function keep(page, searches) {
  try {
    localStorage.setItem(RECENT, JSON.stringify({ of: page.dataset.of, searches: searches.slice(0, MAX_RECENT) }));
  } catch {
    // No room, or not allowed: then there are none.
  }
}

function text(name, words, className) {
  const made = document.createElement(name);
  made.textContent = words;
  made.className = className;
  return made;
}

const counted = (number) => `${number.toLocaleString("en")} lead${number === 1 ? "" : "s"}`;

function line(search) {
  const made = document.createElement("li"), link = text("a", search.says, "breaks");
  const total = text("span", counted(search.total), "soft");
  link.href = search.path;
  made.append(link, " ", total);
  // How many there are now: what is new since somebody looked.
  fetch(search.path + (search.path.includes("?") ? "&" : "?") + "part=count", { headers: { "HX-Request": "true" } })
    .then((response) => (response.ok ? response.text() : ""))
    .then((now) => {
      const more = /^\d+$/.test(now) ? Number(now) - search.total : 0;
      if (!more) return;
      total.textContent = `${counted(Number(now))} `;
      total.append(text("span", `${more > 0 ? "+" : "−"}${Math.abs(more).toLocaleString("en")}`, more > 0 ? "badge good" : "badge"));
    })
    .catch(() => {});
  return made;
}

function show() {
  const page = document.querySelector("#explore");
  if (page.dataset.total) {
    const { path, says, total } = page.dataset;
    keep(page, [{ path, says, total: Number(total) }, ...recent(page).filter((one) => one.path !== path)]);
  }
  const part = document.querySelector("#recent"), searches = recent(page);
  if (!part || !searches.length) return;
  part.querySelector("ul").replaceChildren(...searches.map(line));
  part.hidden = false;
}

document.addEventListener("submit", (event) => {
  if (event.target.action.endsWith("/sign-out")) localStorage.removeItem(RECENT);
});
document.addEventListener("htmx:afterSettle", show);
show();
