// Leads that are ticked: how many, what they cost, ranges with Shift; and the columns that somebody wants to see.
"use strict";

const COLUMNS = "siteglass-hidden-columns";
const ticks = () => [...document.querySelectorAll("input[name=lead][form=chosen]")];
let lastTick = null;

const counting = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;

// The button says the sum of what the rows said; the same number is sent as the cap.
function showChosen() {
  const form = document.querySelector("#chosen");
  if (!form) return;
  const ticked = ticks().filter((tick) => tick.checked);
  const price = ticked.reduce((sum, tick) => sum + Number(tick.dataset.cost), 0);
  form.querySelector("[data-chosen-price]").value = price;
  for (const button of form.querySelectorAll("[data-chosen]")) {
    const cost = price ? counting(price, "credit") : "free";
    const shown = "internal" in form.dataset ? "" : ` · ${cost}`;
    const object = button.dataset.chosen === "Get" && price ? "contacts for " : "";
    button.textContent = `${button.dataset.chosen} ${object}${counting(ticked.length, "lead")}${shown}`;
  }
  const all = document.querySelector("[data-tick-all]");
  all.checked = ticked.length > 0 && ticked.length === ticks().length;
  all.indeterminate = ticked.length > 0 && !all.checked;
}

function tickFirst(number) {
  ticks().forEach((tick, place) => { tick.checked = place < number; });
  showChosen();
}

document.addEventListener("click", (event) => {
  const tick = event.target;
  if (tick.matches?.("input[name=lead][form=chosen]")) {
    const all = ticks(), from = all.indexOf(lastTick), to = all.indexOf(tick);
    if (event.shiftKey && from >= 0) {
      for (const between of all.slice(Math.min(from, to), Math.max(from, to) + 1)) between.checked = tick.checked;
    }
    lastTick = tick;
    showChosen();
  } else if (tick.matches?.("[data-tick-all]")) {
    tickFirst(tick.checked ? ticks().length : 0);
  } else if (tick.matches?.("[data-tick]")) {
    tickFirst(Number(tick.dataset.tick));
  }
});
document.addEventListener("input", (event) => {
  if (event.target.matches("[data-tick-first]")) tickFirst(Number(event.target.value));
  if (event.target.closest("[data-columns]")) hideColumns(columnBoxes().filter((box) => !box.checked).map((box) => box.value));
});

const columnBoxes = () => [...document.querySelectorAll("[data-columns] input")];

function hideColumns(names) {
  localStorage.setItem(COLUMNS, names.join(" "));
  showColumns();
}

function showColumns() {
  const hidden = (localStorage.getItem(COLUMNS) ?? "").split(" ");
  for (const box of columnBoxes()) box.checked = !hidden.includes(box.value);
  for (const cell of document.querySelectorAll(".leads [data-column]")) cell.hidden = hidden.includes(cell.dataset.column);
}

// After a way back the browser may have ticked them again.
for (const event of ["htmx:afterSettle", "pageshow"]) {
  (event === "pageshow" ? window : document).addEventListener(event, () => { showChosen(); showColumns(); });
}
