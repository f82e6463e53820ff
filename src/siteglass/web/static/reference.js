"use strict";

Scalar.createApiReference("#reference", {
  url: "/openapi.json",
  theme: "none",
  // Light or dark as the system is, like all our pages.
  hideDarkModeToggle: true,
  // Nothing may be loaded from, or sent to, another host.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
  documentDownloadType: "json",
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
  authentication: { preferredSecurityScheme: "ApiKey" },
});

// The viewer leaves out names that people who use a screen reader need.
new MutationObserver(() => {
  for (const field of document.querySelectorAll('.code-input-lite__editor[role="combobox"]')) {
    field.role = "textbox"; // it has no list to open
    field.ariaLabel = field.dataset.placeholder;
  }
  for (const button of document.querySelectorAll('button[class*="copy-button"]:not([aria-label])')) {
    button.ariaLabel = "Copy";
  }
}).observe(document.body, { childList: true, subtree: true });
