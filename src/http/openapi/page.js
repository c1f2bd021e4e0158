// A file of its own, since the page's policy allows no script within the page.
globalThis.SwaggerUIBundle({
  url: "/docs",
  dom_id: "#interface",
  deepLinking: true,
  showCommonExtensions: true, // Bounds, beside each parameter.
  validatorUrl: null, // Else the document's address goes to a validator on another host.
});
