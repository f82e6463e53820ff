// What pages do beyond forms and links: copy, ask before something that cannot be undone, say that something loads.
"use strict";

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = "Copied";
  } catch {
    // No right to the clipboard, or no https: select it, so that the keyboard can copy.
    getSelection().selectAllChildren(source);
    button.textContent = "Press Ctrl+C";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 2500);
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

// A menu closes when something else is pressed, or Escape.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});
