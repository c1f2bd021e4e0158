import { document, type Operation } from "../http/open-api-document.ts";

const BEGIN = "<!-- Written from the endpoints themselves by npm run format; a test compares. -->\n";
const END = "<!-- End of what is written. -->\n";

/** The page with the table of endpoints as the server's own document has them. */
export function withEndpointTable(page: string): string {
  const [before, rest] = page.split(BEGIN);
  const [, after] = rest!.split(END);
  return `${before}${BEGIN}\n${endpointTable()}\n\n${END}${after}`;
}

function endpointTable(): string {
  const rows = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => rowOf(`${method.toUpperCase()} ${path}`, operation)),
  );
  return ["| endpoint | answers | key | parameters |", "|---|---|---|---|", ...rows].join("\n");
}

function rowOf(endpoint: string, { summary, description, parameters = [] }: Operation): string {
  const permission = /Needs the permission `(\w+)`/.exec(description)?.[1] ?? "none";
  const queries = parameters.filter(({ in: place }) => place === "query");
  const answers = summary.charAt(0).toLowerCase() + summary.slice(1);
  return `| \`${endpoint}\` | ${answers} | ${permission} | ${queries.map(parameterText).join(", ")} |`;
}

/** Its name, and what holds where it is left out. */
function parameterText({ name, required, schema }: NonNullable<Operation["parameters"]>[number]): string {
  if (required) return `\`${name}\` (required)`;
  return schema.default === undefined ? `\`${name}\`` : `\`${name}\` (${schema.default})`;
}
