"use strict";

const byId = (id) => document.getElementById(id);
const say = { status: byId("status"), ask: byId("ask"), confirm: byId("confirm"), done: byId("done"), resume: byId("resume") };

let ticket = "";
let asksForCode = false;
// What proved an access request: it also proves that the value may be removed.
let proof = null;
let busy = false;

function show(name) {
  for (const part of ["ask", "confirm", "done"]) {
    say[part].hidden = part !== name;
  }
  say.resume.hidden = name !== "ask";
}

function tell(text, wrong = false) {
  say.status.textContent = text;
  say.status.classList.toggle("wrong", wrong);
}

function complain(fieldId, errorId, text) {
  const error = byId(errorId);
  error.textContent = text;
  error.hidden = !text;
  const field = fieldId && byId(fieldId);
  if (field) {
    field.toggleAttribute("aria-invalid", false);
    if (text) {
      field.setAttribute("aria-invalid", "true");
      field.focus();
    }
  }
}

function forgetComplaints() {
  tell("");
  complain("value", "value-error", "");
  complain("code", "code-error", "");
  complain("", "ticket-error", "");
  complain("ticket", "resume-error", "");
}

// Says what went wrong in the answer, or null where the answer is to be used.
async function post(path, body) {
  let response;
  try {
    response = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  } catch {
    return { wrong: "The service could not be reached. Check your connection and try again." };
  }
  let answer = {};
  try {
    answer = await response.json();
  } catch {
    // told below by its status
  }
  if (response.ok) {
    return { answer };
  }
  if (response.status === 429) {
    const minutes = Math.ceil(Number(response.headers.get("Retry-After") || 60) / 60);
    return { wrong: `Too many attempts. Please wait ${minutes} minute${minutes === 1 ? "" : "s"} and try again, or see other ways below.` };
  }
  if (response.status === 400) {
    return { details: answer.details || [], wrong: answer.message };
  }
  return { wrong: "This is temporarily unavailable. Nothing was changed. Please try again later, or see other ways below." };
}

// One call at a time, and a button that says so without losing the focus.
async function working(form, text, work) {
  if (busy) {
    return;
  }
  busy = true;
  const button = form.querySelector("button[type=submit]");
  button.setAttribute("aria-disabled", "true");
  forgetComplaints();
  tell(text);
  try {
    await work();
  } finally {
    button.removeAttribute("aria-disabled");
    busy = false;
  }
}

function details(failed, field) {
  const found = (failed.details || []).filter((one) => one.field === field);
  return found.map((one) => one.message.charAt(0).toUpperCase() + one.message.slice(1) + ".").join("\n");
}

// What was found where, without the token again.
function places(text) {
  return text.replace(/^Expected siteglass-proof=\S+ at (.*), found (.*)$/gm, "$1: $2");
}

say.ask.addEventListener("submit", (event) => {
  event.preventDefault();
  const value = byId("value").value.trim();
  if (!value) {
    forgetComplaints();
    complain("value", "value-error", "Please enter an email address or a domain.");
    return;
  }
  const kind = value.includes("@") && !value.includes("/") ? "email" : "domain";
  const request = say.ask.elements.request.value;
  working(say.ask, "One moment …", async () => {
    const { answer, ...failed } = await post("/v1/opt-out", { [kind]: value, request });
    tell("");
    if (!answer) {
      const about = details(failed, kind);
      if (about) {
        complain("value", "value-error", about);
      } else {
        tell(failed.wrong, true);
      }
      return;
    }
    askForProof(answer);
  });
});

function askForProof(answer) {
  ticket = answer.ticket;
  asksForCode = answer.token === undefined;
  byId("by-code").hidden = !asksForCode;
  byId("by-token").hidden = asksForCode;
  byId("confirm-button").textContent = asksForCode ? "Confirm" : "Check now";
  proof = null;
  byId("code").value = "";
  byId("recipient").textContent = answer.email || "";
  byId("domain").textContent = answer.domain || "";
  byId("kept").value = ticket;
  if (!asksForCode) {
    byId("dns-name").textContent = answer.dns.name;
    byId("http-url").textContent = answer.http[0];
    for (const place of document.querySelectorAll(".token")) {
      place.textContent = answer.token;
    }
  }
  show("confirm");
  say.confirm.querySelector("h2").focus();
}

say.confirm.addEventListener("submit", (event) => {
  event.preventDefault();
  const code = byId("code").value.trim();
  if (asksForCode && !code) {
    forgetComplaints();
    complain("code", "code-error", "Please enter the code from the email.");
    return;
  }
  const moment = asksForCode ? "One moment …" : "Checking the domain. This takes up to five seconds …";
  working(say.confirm, moment, async () => {
    const given = asksForCode ? { ticket, code } : { ticket };
    const { answer, ...failed } = await post("/v1/opt-out/confirm", given);
    tell("");
    if (answer) {
      proof = given;
      showDone(answer);
    } else if (details(failed, "code")) {
      complain("code", "code-error", "That is not the code from our newest email. Please check it, or start again.");
    } else if (details(failed, "ticket")) {
      complain("", "ticket-error", places(details(failed, "ticket")));
      tell(asksForCode ? "This request has expired. Please start again." : "The token was not found yet.", true);
    } else {
      tell(failed.wrong, true);
    }
  });
});

byId("resume-form").addEventListener("submit", (event) => {
  event.preventDefault();
  working(byId("resume-form"), "Checking the domain. This takes up to five seconds …", async () => {
    const given = { ticket: byId("ticket").value.trim() };
    const { answer, ...failed } = await post("/v1/opt-out/confirm", given);
    tell("");
    if (answer) {
      proof = given;
      showDone(answer);
    } else if (details(failed, "ticket") || details(failed, "code")) {
      complain("ticket", "resume-error", places(details(failed, "ticket")) || "This ticket needs the code from its email.");
    } else {
      tell(failed.wrong, true);
    }
  });
});

function element(name, text, className) {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) {
    made.className = className;
  }
  return made;
}

// As everywhere: 3 Nov 2026, in UTC.
function day(moment) {
  return new Date(moment).toUTCString().slice(5, 16).replace(/^0/, "");
}

function showDone(answer) {
  const about = answer.email || answer.domain;
  const held = byId("held");
  held.replaceChildren();
  byId("opt-out-now").hidden = answer.request !== "access" || Boolean(answer.suppressed_since);
  if (answer.request === "opt_out") {
    byId("done-title").textContent = "Done";
    const hidden = answer.email || `the record of ${answer.domain}`;
    byId("done-text").textContent =
      `Within ${answer.effective_within_s} seconds, Siteglass searches and look-ups will no longer show ${hidden}. You do not need to do anything else.`;
  } else {
    byId("done-title").textContent = `What is stored about ${about}`;
    const since = answer.suppressed_since
      ? `It has not been shown to anybody since ${day(answer.suppressed_since)}. `
      : "";
    const foundOn = answer.suppressed_on.length
      ? ` It was found on ${answer.suppressed_on.join(", ")}, and is still in the files that these records came in.`
      : "";
    const count = answer.leads.length;
    byId("done-text").textContent =
      since + (count === 0 ? "No record contains it." : `${count} record${count === 1 ? " contains" : "s contain"} it.`) + foundOn +
      received(answer);
    held.append(...answer.leads.map(heldLead));
  }
  show("done");
  byId("done-title").focus();
}

// How many customers have it.
function received(answer) {
  if (answer.received_by !== "Not counted yet") {
    return ` ${answer.received_by} received such a record.`;
  }
  const how = answer.email ? "and email you the number" : "; check the domain again in a few minutes to see the number";
  return ` We are counting how many customers received such a record${answer.email ? " " : ""}${how}.`;
}

function heldLead(lead) {
  const part = element("div", "", "lead-held");
  part.append(element("strong", lead.domain));
  const list = document.createElement("dl");
  const rows = [["Found in", lead.fields.join(", ")], ["Read on", day(lead.crawled_at)]];
  for (const one of lead.seen) {
    rows.push([one.value, `on ${one.page}, first seen ${day(one.first_seen)}, last seen ${day(one.last_seen)}`]);
  }
  if (lead.seen.length === 0) {
    rows.push(["Source", `not read from a page: it came with ${lead.source}`]);
  }
  for (const [name, text] of rows) {
    list.append(element("dt", name), element("dd", text));
  }
  part.append(list);
  if (lead.record) {
    const whole = document.createElement("details");
    const record = element("pre", JSON.stringify(lead.record, null, 2));
    // It scrolls, by keyboard too.
    record.tabIndex = 0;
    whole.append(element("summary", "The whole record"), record);
    part.append(whole);
  }
  return part;
}

function startAgain() {
  forgetComplaints();
  ticket = "";
  byId("kept").value = "";
  show("ask");
  byId("value").focus();
}

byId("back").addEventListener("click", startAgain);
byId("another").addEventListener("click", startAgain);
byId("opt-out-now").addEventListener("click", async () => {
  tell("One moment …");
  const { answer, ...failed } = await post("/v1/opt-out/confirm", { ...proof, request: "opt_out" });
  tell(answer ? "" : failed.wrong, true);
  if (answer) {
    showDone(answer);
  }
});
show("ask");
