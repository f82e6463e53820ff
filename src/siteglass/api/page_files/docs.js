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
