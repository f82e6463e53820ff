// What pages do beyond forms and links: copy, ask before something that cannot be undone, say that something loads.
"use strict";

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  const label = button.dataset.label ??= button.textContent;
  try {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = "Copied";
  } catch {
    // No right to the clipboard, or no https: select it, so that the keyboard can copy.
    getSelection().selectAllChildren(source);
    button.textContent = "Press Ctrl+C";
  }
  setTimeout(() => { button.textContent = label; }, 2500);
});

// A form that cannot be undone says so in data-confirm.
document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (question && !confirm(question)) event.preventDefault();
});

// A plain form is sent once, however often its button is pressed.
document.addEventListener("submit", (event) => {
  if (event.defaultPrevented || event.target.method !== "post") return;
  const button = event.submitter ?? event.target.querySelector("button");
  if (button) setTimeout(() => { button.disabled = true; });
  const working = event.target.dataset.working;
  if (working && button) setTimeout(() => { button.textContent = working; });
  setTimeout(() => say("Working …"), 600);
});

// Back in the browser's history a button must work again.
addEventListener("pageshow", () => {
  for (const button of document.querySelectorAll("button[disabled]")) button.disabled = false;
  say("");
});

const busy = document.querySelector(".busy");

function say(text) {
  busy.textContent = text || busy.textContent;
  busy.classList.toggle("shown", Boolean(text));
}

let waiting;
document.addEventListener("htmx:beforeRequest", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => say("Loading …"), 300);
});
for (const ended of ["htmx:afterRequest", "htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(ended, () => { clearTimeout(waiting); say(""); });
}
for (const failed of ["htmx:sendError", "htmx:timeout", "htmx:responseError"]) {
  document.addEventListener(failed, () => { say("That did not work. Try again in a moment."); setTimeout(() => say(""), 4000); });
}

const MENUS = "details.menu[open], details.chip-words[open], details.menu-of[open]";

// A menu closes when something else is pressed, or Escape.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll(MENUS)) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll(MENUS)) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

// A button shows or hides what is always in view on wide screens.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-toggle]");
  if (!button) return;
  const shown = document.getElementById(button.dataset.toggle).classList.toggle("shown");
  button.setAttribute("aria-expanded", String(shown));
});

// The Delete key removes the condition that has the focus.
document.addEventListener("keydown", (event) => {
  const chip = event.target.closest?.(".chip");
  if (chip && event.key === "Delete") chip.querySelector(".chip-remove").click();
});

// After a part of the page was replaced, people who cannot see it hear what changed: a region that is replaced itself
// would say nothing.
document.addEventListener("htmx:afterSettle", () => {
  const text = document.querySelector("[data-announce]")?.dataset.announce;
  if (text && busy.textContent !== text) busy.textContent = text;
});
