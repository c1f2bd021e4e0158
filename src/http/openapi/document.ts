import { Elysia } from "elysia";
import { errorCodeTable } from "../errors.ts";
import type { Method } from "../request.ts";
import { PLACE_SCHEMAS } from "../shapes/place.ts";
import { RECORD_SCHEMAS, REPORT_SCHEMAS } from "../shapes/record-schemas.ts";
import type { Schemas } from "../shapes/shape.ts";
import { type DescribedEndpoint, describeOperation, type Operation } from "./operation.ts";
import { ERROR_SCHEMAS, HEADERS, RESPONSES } from "./responses.ts";

/*
 * The one file that knows `@elysiajs/swagger`. The plugin puts the document together from what each endpoint says of
 * itself. What it makes of route schemas is not valid OpenAPI, so it gets none; its page, which loads scripts from
 * other hosts, is never asked for.
 */

export interface DocumentedEndpoint extends DescribedEndpoint {
  readonly method: Method;
  readonly path: string;
}

/** What the document says of the server itself. */
export interface DescribedService {
  readonly version: string;
  /** As it is set. */
  readonly retention: string;
}

const DOCUMENT_PATH = "/document";

/** The OpenAPI document of some endpoints. */
export async function createOpenApiDocument(
  endpoints: readonly DocumentedEndpoint[],
  service: DescribedService,
): Promise<object> {
  // Loaded here, since it brings its page along: 10 ms that a start can do without.
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

/** The plugin would take the suffix of a variable segment, as in `:y.mvt`, for a part of its name. */
function withoutSuffix(path: string): string {
  return path.replaceAll(/(:\w+)\.\w+/g, "$1");
}

function withSuffixes(paths: Schemas, endpoints: readonly DocumentedEndpoint[]): Schemas {
  const documented = (path: string) => path.replaceAll(/:(\w+)/g, "{$1}");
  const whole = new Map(endpoints.map(({ path }) => [documented(withoutSuffix(path)), documented(path)]));
  return Object.fromEntries(Object.entries(paths).map(([path, item]) => [whole.get(path) ?? path, item]));
}

/** The document around its paths. */
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
            "The key in the URL, where it ends up in logs: only for clients that can't do otherwise.",
        },
      },
      headers: HEADERS,
      responses: RESPONSES,
      schemas: { ...answers, ...RECORD_SCHEMAS, ...PLACE_SCHEMAS, ...REPORT_SCHEMAS, ...ERROR_SCHEMAS },
    },
  };
}

/** Every schema that an endpoint brings along, by name. */
function schemasOf({ answer, schemas }: Operation): Schemas {
  return { ...schemas, ...("name" in answer ? { [answer.name]: answer.shape.schema } : {}) };
}

const introduction = (retention: string) => `Where devices are, where they were, and who is near.

**Keys.** All of \`/api/v1\`, \`/ingest/v1\` and \`/metrics\` needs \`Authorization: Bearer <API_KEY>\`. A key has an app, some of the
permissions \`read\`, \`write\` and \`operate\`, or \`view\` alone, which is a share link's, and a tier that limits its requests;
\`RateLimit\` and \`RateLimit-Policy\` say how far.

**Parameters.** Numbers are plain decimals (\`1e2\` and \`0x10\` are errors), booleans \`true\` or \`false\`. A parameter given twice
is an error, an unknown one is ignored and named in \`Wherehouse-Ignored-Parameters\`. What is checked first answers first: path and method, key, rate, permission,
\`Wherehouse-Min-Sequence\`, user id, parameters, existence.

**Time.** \`timestamp\` is Unix milliseconds. Days are UTC unless \`timezone\` names a zone, whose days then have 23 or 25 hours
when its clocks change. The retention is set to \`${retention}\`: locations are kept for so many whole UTC days before today (a
year has 365.25, rounded up), or forever; \`/ready\` has the first instant.

**Answers.** JSON in UTF-8, compressed with gzip or zstd where \`Accept-Encoding\` allows it and it is worth it. What a report left
out is absent, and numbers come back as they were sent. Every answer has an \`X-Request-Id\`: the one sent along, or a new one.

**Errors.** Every error has a code in \`Wherehouse-Error-Code\`, which programs may go by; its words may change.

${errorCodeTable()}

**Several servers.** Servers over one log show a report within milliseconds of each other. Who sends to one and asks another
puts the \`sequence\` of the answer to its reports into \`Wherehouse-Min-Sequence\`, and is answered once they are there.

**Places.** \`places=true\` names the place that a position is near. Names of places are by [GeoNames](https://www.geonames.org),
under [CC BY 4.0](https://creativecommons.org/licenses/by/4.0/): whoever shows them credits GeoNames.`;

const TAGS = [
  { name: "Users", description: "Devices and positions of one user." },
  { name: "Devices", description: "Positions of one device." },
  { name: "App", description: "Positions of all devices of the key's app." },
  { name: "Nearby", description: "Devices around a point." },
  { name: "Ingest", description: "The way in for reports." },
  {
    name: "Clients",
    description:
      "Ways in for the apps that people have, each in its own words; docs/clients.md has what to type.",
  },
  { name: "Service", description: "The server itself; of these, metrics and copies need a key." },
];
