import type { Endpoint } from "../../../src/http/endpoint.ts";
import { ENDPOINTS } from "../../../src/http/endpoints.ts";
import { document, type Operation } from "../../unit/http/openapi/open-api-document.ts";

/** All endpoints that the document names; those of clients have a page of their own. */
export function endpointTable(): string {
  const rows = ENDPOINTS.filter(isListed).map(rowOf);
  return ["| endpoint | answers | key | parameters |", "|---|---|---|---|", ...rows].join("\n");
}

function isListed({ kind, operation }: Endpoint): boolean {
  return kind !== "client" && operation !== null;
}

function rowOf(endpoint: Endpoint): string {
  const { method, path, permission } = endpoint;
  const isForViews = endpoint.kind === "keyed" && endpoint.isForViews;
  const documentPath = path.replaceAll(/:(\w+)/g, "{$1}");
  const { summary, parameters = [] } = document.paths[documentPath]![method.toLowerCase()]!;
  const queries = parameters.filter(({ in: place }) => place === "query");
  const answers = summary.charAt(0).toLowerCase() + summary.slice(1);
  const cells = [
    `\`${method} ${documentPath}\``,
    answers,
    isForViews ? `${permission} or view` : (permission ?? "none"),
  ];
  return `| ${[...cells, queries.map(parameterText).join(", ")].join(" | ")} |`;
}

/** Its name, and what holds where it is left out. */
function parameterText({ name, required, schema }: NonNullable<Operation["parameters"]>[number]): string {
  if (required) return `\`${name}\` (required)`;
  return schema.default === undefined ? `\`${name}\`` : `\`${name}\` (${schema.default})`;
}
