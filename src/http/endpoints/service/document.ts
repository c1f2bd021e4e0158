import { KeptBody } from "../../body/kept-body.ts";
import type { Endpoint } from "../../endpoint.ts";
import { openEndpoint } from "../../endpoint.ts";
import { createOpenApiDocument, type DocumentedEndpoint } from "../../openapi/document.ts";

/** The OpenAPI document of some endpoints; they are asked for when the document is. */
export function documentOf(endpoints: () => readonly Endpoint[]): Endpoint {
  return openEndpoint({
    operationId: "getDocument",
    tag: "Service",
    summary: "This document",
    description: "The OpenAPI description of the interface.",
    path: "/docs",
    answer: {
      description: "An OpenAPI 3.0 document.",
      contentType: "application/json",
      schema: { type: "object" },
    },
    open({ version }, responder) {
      const body = new KeptBody(async () => {
        const document = await createOpenApiDocument(endpoints().filter(isDocumented), version);
        return new TextEncoder().encode(JSON.stringify(document));
      });
      return (request) => responder.kept(request, body, {});
    },
  });
}

function isDocumented(endpoint: Endpoint): endpoint is Endpoint & DocumentedEndpoint {
  return endpoint.operation !== null;
}
