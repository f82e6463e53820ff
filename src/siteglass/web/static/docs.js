"use strict";

// The menu, the search and the copy buttons of the docs. The search needs nothing but the index that was built with the
// pages: scripts/docs_search.py says how it weighs words.
const MAX_SHOWN = 8;
const address = new URL("search.json", document.currentScript.src);
const side = document.querySelector(".side");
const field = document.getElementById("find");
const list = document.getElementById("found");
const count = document.getElementById("found-count");
let index = null;

// On a wide window all pages are beside the text, the one that is shown in sight.
if (matchMedia("(width >= 60rem)").matches) {
  side.querySelector("details").open = true;
  side.scrollTop = side.querySelector("[aria-current]").offsetTop - side.clientHeight / 3;
}
side.querySelector(".find").hidden = false;

// The rule of docs_search.py: a plural loses its s.
function wordsOf(text) {
  const found = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return found.map((word) => (word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word));
}

// The pages by the sum of their weights. The last word may be unfinished: then words that begin with it count.
function rank(asked) {
  const scores = new Map();
  for (const word of new Set(asked)) {
    const begun = () => Object.keys(index.words).filter((known) => known.startsWith(word));
    const known = Object.hasOwn(index.words, word) ? [word] : word === asked.at(-1) ? begun() : [];
    for (const postings of known.map((each) => index.words[each])) {
      for (let place = 0; place < postings.length; place += 2) {
        scores.set(postings[place], (scores.get(postings[place]) ?? 0) + postings[place + 1]);
      }
    }
  }
  return [...scores].sort((one, other) => other[1] - one[1]).map(([place]) => index.pages[place]);
}

// The heading with the most words of the question that the title does not have.
function sectionOf([, title, headings], asked) {
  const open = asked.filter((word) => Object.hasOwn(index.words, word) && !wordsOf(title).includes(word));
  const hits = ([, text]) => wordsOf(text).filter((word) => open.includes(word)).length;
  const best = headings.reduce((one, other) => (hits(other) > hits(one) ? other : one), ["", ""]);
  return hits(best) > 0 ? best : null;
}

function resultOf(page, asked) {
  const link = document.createElement("a");
  const section = sectionOf(page, asked);
  link.href = page[0] + (section ? `#${section[0]}` : "");
  link.textContent = page[1];
  if (section) {
    link.append(Object.assign(document.createElement("span"), { className: "hint", textContent: section[1] }));
  }
  const item = document.createElement("li");
  item.append(link);
  return item;
}

async function search() {
  try {
    index ??= await (await fetch(address)).json();
  } catch {
    count.textContent = "The index of the search did not come. Reload the page.";
    return;
  }
  const asked = wordsOf(field.value);
  const pages = rank(asked);
  list.replaceChildren(...pages.slice(0, MAX_SHOWN).map((page) => resultOf(page, asked)));
  const more = pages.length > MAX_SHOWN ? `The first ${MAX_SHOWN} of ${pages.length} pages` : `Pages: ${pages.length}`;
  count.textContent = !asked.length ? "" : pages.length ? more : "No page has these words. Try others.";
}

function move(event) {
  const links = [...list.querySelectorAll("a")];
  const here = links.indexOf(document.activeElement);
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    const next = here + (event.key === "ArrowDown" ? 1 : -1);
    (next < 0 ? field : links[Math.min(next, links.length - 1)])?.focus();
  } else if (event.key === "Enter" && document.activeElement === field) {
    links[0]?.click();
  } else if (event.key === "Escape") {
    field.value = "";
    field.focus();
    search();
  }
}

field.addEventListener("input", search);
side.querySelector(".find").addEventListener("keydown", move);
addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.target.closest("input, textarea")) {
    event.preventDefault();
    field.focus();
  }
});

function addCopyButton(block) {
  const button = Object.assign(document.createElement("button"), { className: "small copy", textContent: "Copy" });
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.textContent);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 2_000);
  });
  const box = Object.assign(document.createElement("div"), { className: "code" });
  block.replaceWith(box);
  box.append(block, button);
}

// Browsers give pages a clipboard only over HTTPS and on this machine.
addEventListener("DOMContentLoaded", () => {
  if (navigator.clipboard) {
    document.querySelectorAll("main pre").forEach(addCopyButton);
  }
});
