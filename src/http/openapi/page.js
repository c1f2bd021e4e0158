// In its own file, because the page's policy forbids inline scripts.
globalThis.SwaggerUIBundle({
  url: "/docs",
  dom_id: "#interface",
  deepLinking: true,
  showCommonExtensions: true, // Bounds, beside each parameter.
  validatorUrl: null, // By default the document's address would be sent to a validator on another host.
});
