import { CachedBody } from "../../answer/compression.ts";
import { type Endpoint, openEndpoint } from "../../endpoint.ts";
import { createOpenApiDocument, type DocumentedEndpoint } from "../../openapi/document.ts";

/** The OpenAPI document of some endpoints. The list is read on request, because it includes this endpoint. */
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
    open({ version, retention }, responder) {
      let retentionText = retention.text;
      let body = describe();
      function describe(): CachedBody {
        const service = { version, retention: retentionText };
        return new CachedBody(async () => {
          const document = await createOpenApiDocument(endpoints().filter(isDocumented), service);
          return new TextEncoder().encode(JSON.stringify(document));
        });
      }
      return (request) => {
        if (retention.text !== retentionText) {
          retentionText = retention.text;
          body = describe();
        }
        return responder.cached(request, body, {});
      };
    },
  });
}

function isDocumented(endpoint: Endpoint): endpoint is Endpoint & DocumentedEndpoint {
  return endpoint.operation !== null;
}
