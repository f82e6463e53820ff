// A button that charges: if the connection is lost, the page sends the same form again until it knows what happened.
// The service charges the same form once, so sending it again is a question, not a second purchase.
"use strict";

const ATTEMPT_MS = 30_000;
const GIVE_UP_MS = 120_000;
// The purchase is still running, the service is busy, or it does not know yet.
const NOT_KNOWN_YET = [409, 429, 502, 503, 504];

const pause = (ms) => new Promise((resume) => setTimeout(resume, ms));

// Whether the service has charged or refused.
async function isSettled(form) {
  try {
    const response = await fetch(form.action, {
      method: "POST",
      body: new URLSearchParams(new FormData(form)),
      redirect: "manual",
      signal: AbortSignal.timeout(ATTEMPT_MS),
    });
    return !NOT_KNOWN_YET.includes(response.status);
  } catch {
    return false;
  }
}

async function buy(form, button) {
  const label = button.textContent;
  const status = form.querySelector("[role=status]");
  button.disabled = true;
  button.textContent = form.dataset.working;
  const started = Date.now();
  for (let wait = 500; Date.now() - started < GIVE_UP_MS; wait = Math.min(2 * wait, 8_000)) {
    if (await isSettled(form)) {
      form.submit(); // the same once more as a page: the leads, or why there are none
      return;
    }
    status.textContent = "Checking whether this was charged…";
    await pause(wait);
  }
  say("");
  status.textContent = "We could not reach the service. Press the button again: the same leads are charged once.";
  button.disabled = false;
  button.textContent = label;
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("form.charges") || event.defaultPrevented) return;
  event.preventDefault();
  const button = form.querySelector("button");
  if (!button.disabled) buy(form, button);
});
