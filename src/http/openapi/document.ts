import { Elysia } from "elysia";
import { errorCodeTable } from "../errors.ts";
import type { Method } from "../request.ts";
import { PLACE_SCHEMAS } from "../shapes/place.ts";
import { RECORD_SCHEMAS, REPORT_SCHEMAS } from "../shapes/record-schemas.ts";
import type { Schemas } from "../shapes/shape.ts";
import { type DescribedEndpoint, describeOperation, type Operation } from "./operation.ts";
import { ERROR_SCHEMAS, HEADERS, RESPONSES } from "./responses.ts";

/*
 * The only file that knows `@elysiajs/swagger`. The plugin assembles the document from each endpoint's description. Its
 * output for route schemas is not valid OpenAPI, so it gets none; its page, which loads scripts from other hosts, is
 * never requested.
 */

export interface DocumentedEndpoint extends DescribedEndpoint {
  readonly method: Method;
  readonly path: string;
}

export interface DescribedService {
  readonly version: string;
  readonly retention: string;
}

const DOCUMENT_PATH = "/document";

export async function createOpenApiDocument(
  endpoints: readonly DocumentedEndpoint[],
  service: DescribedService,
): Promise<object> {
  // Loaded here, because it includes its page: 10 ms that would delay every start.
  const { swagger } = await import("@elysiajs/swagger");
  const documentation = describeDocument(endpoints, service);
  const collector = new Elysia().use(swagger({ path: "/page", specPath: DOCUMENT_PATH, documentation }));
  for (const endpoint of endpoints) {
    collector.route(endpoint.method, withoutSuffix(endpoint.path), "", {
      detail: describeOperation(endpoint),
    });
  }
  const response = await collector.handle(new Request(`http://localhost${DOCUMENT_PATH}`));
  const { paths, ...document } = (await response.json()) as { readonly paths: Schemas };
  return { ...document, paths: withSuffixes(paths, endpoints) };
}

/** The plugin would read the suffix of a variable segment, as in `:y.mvt`, as part of its name. */
function withoutSuffix(path: string): string {
  return path.replaceAll(/(:\w+)\.\w+/g, "$1");
}

function withSuffixes(paths: Schemas, endpoints: readonly DocumentedEndpoint[]): Schemas {
  const documented = (path: string) => path.replaceAll(/:(\w+)/g, "{$1}");
  const whole = new Map(endpoints.map(({ path }) => [documented(withoutSuffix(path)), documented(path)]));
  return Object.fromEntries(Object.entries(paths).map(([path, item]) => [whole.get(path) ?? path, item]));
}

function describeDocument(
  endpoints: readonly DocumentedEndpoint[],
  { version, retention }: DescribedService,
): object {
  const answers = Object.assign({}, ...endpoints.map(({ operation }) => schemasOf(operation))) as Schemas;
  return {
    info: {
      title: "Wherehouse",
      version,
      description: introduction(retention),
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
    },
    servers: [{ url: "/", description: "The server that sent this document." }],
    tags: TAGS,
    components: {
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "wh_…",
          description: "An API key. It belongs to one app, and every answer is about that app alone.",
        },
        password: {
          type: "http",
          scheme: "basic",
          description: "The key as the password, beside any name; or as the name, without a password.",
        },
        queryKey: {
          type: "apiKey",
          in: "query",
          name: "api_key",
          description:
            "The key in the URL, where logs may store it: only for clients that can't send it otherwise.",
        },
      },
      headers: HEADERS,
      responses: RESPONSES,
      schemas: { ...answers, ...RECORD_SCHEMAS, ...PLACE_SCHEMAS, ...REPORT_SCHEMAS, ...ERROR_SCHEMAS },
    },
  };
}

function schemasOf({ answer, schemas }: Operation): Schemas {
  return { ...schemas, ...("name" in answer ? { [answer.name]: answer.shape.schema } : {}) };
}

const introduction = (retention: string) => `Current and past positions of devices, and devices near a point.

**Keys.** All of \`/api/v1\`, \`/ingest/v1\` and \`/metrics\` needs \`Authorization: Bearer <API_KEY>\`. A key has an app, some of the
permissions \`read\`, \`write\`, \`edit\` and \`operate\` (or only \`view\`, as a share link), and a tier that limits its requests.
\`RateLimit\` and \`RateLimit-Policy\` have the limits.

**Parameters.** Numbers are plain decimals (\`1e2\` and \`0x10\` are errors), booleans \`true\` or \`false\`. A repeated parameter is
an error; an unknown one is ignored and listed in \`Wherehouse-Ignored-Parameters\`. The checks have this order: path and method,
key, rate, permission, \`Wherehouse-Min-Sequence\`, user id, parameters, existence.

**Time.** \`timestamp\` is Unix milliseconds. Days are UTC unless \`timezone\` names a zone, whose days have 23 or 25 hours when its
clocks change. The retention is \`${retention}\`: locations are kept for that number of whole UTC days before today (a year has
365.25, rounded up), or forever; \`/ready\` has the first instant.

**Answers.** JSON in UTF-8, compressed with gzip or zstd if \`Accept-Encoding\` allows it and it is worth it. Values that a report
lacked are absent, and numbers come back as they were sent. Every answer has an \`X-Request-Id\`: the request's own, or a new one.

**Errors.** Every error has a code in \`Wherehouse-Error-Code\` for programs; its message may change.

${errorCodeTable()}

**Several servers.** Servers over one log show a report within milliseconds of each other. A client that reports to one and
queries another sends the \`sequence\` of the answer to its reports as \`Wherehouse-Min-Sequence\`, and the answer waits for them.

**Places.** \`places=true\` adds the place near a position. Names of places come from [GeoNames](https://www.geonames.org) under
[CC BY 4.0](https://creativecommons.org/licenses/by/4.0/): if you show them, credit GeoNames.`;

const TAGS = [
  { name: "Users", description: "Devices and positions of one user." },
  { name: "Devices", description: "Positions of one device." },
  { name: "App", description: "Positions of all devices of the key's app." },
  { name: "Geofences", description: "Areas that devices enter and leave, and alerts without an area." },
  { name: "Webhooks", description: "Events of geofences and alerts, sent to a URL." },
  { name: "Nearby", description: "Devices around a point." },
  { name: "Ingest", description: "Reports from devices." },
  {
    name: "Clients",
    description: "Endpoints for existing apps, each in its own format; docs/clients.md has their settings.",
  },
  { name: "Service", description: "The server itself; of these, only metrics and copies need a key." },
];
