"use strict";

// The viewer styles itself through <style> elements and style attributes, which our Content-Security-Policy forbids.
// The policy allows scripts to do the same through the CSSOM, so all three ways are redirected there.
class AdoptedStyle extends HTMLElement {
  sheet = new CSSStyleSheet();
  #observer = new MutationObserver(() => this.sheet.replaceSync(this.textContent));

  connectedCallback() {
    this.sheet.replaceSync(this.textContent);
    this.#observer.observe(this, { characterData: true, childList: true, subtree: true });
    document.adoptedStyleSheets.push(this.sheet);
  }

  disconnectedCallback() {
    this.#observer.disconnect();
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== this.sheet);
  }
}
customElements.define("adopted-style", AdoptedStyle);

const createElement = document.createElement;
document.createElement = function (name, options) {
  return createElement.call(this, name === "style" ? "adopted-style" : name, options);
};

const setAttribute = Element.prototype.setAttribute;
Element.prototype.setAttribute = function (name, value) {
  if (name === "style") {
    this.style.cssText = value;
  } else {
    setAttribute.call(this, name, value);
  }
};

const innerHTML = Object.getOwnPropertyDescriptor(Element.prototype, "innerHTML");
Object.defineProperty(Element.prototype, "innerHTML", {
  ...innerHTML,
  set(markup) {
    innerHTML.set.call(this, String(markup).replace(/(<[a-z]+\b[^<>]*?) style=/gi, "$1 data-style="));
    for (const element of (this.content ?? this).querySelectorAll("[data-style]")) {
      element.style.cssText = element.dataset.style;
    }
  },
});

// A library inside the viewer would otherwise try whether it may compile code, which the policy forbids, too.
globalThis.__zod_globalConfig = { jitless: true };
