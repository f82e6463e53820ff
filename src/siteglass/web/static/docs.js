"use strict";

SwaggerUIBundle({
  domNode: document.getElementById("document"),
  url: "/openapi.json",
  // No badge: it would send the address of this document to a stranger.
  validatorUrl: null,
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
});

// The viewer leaves out what those who hear a page, or go through it by keyboard, need.
new MutationObserver(() => {
  for (const choice of document.querySelectorAll("#document select:not([aria-label])")) {
    const row = choice.closest("[data-param-name]");
    choice.setAttribute("aria-label", row ? row.dataset.paramName : "Examples");
  }
  for (const example of document.querySelectorAll(".microlight:not([tabindex])")) {
    example.tabIndex = 0;
  }
}).observe(document.getElementById("document"), { childList: true, subtree: true });
