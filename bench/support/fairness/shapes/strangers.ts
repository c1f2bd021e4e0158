import swaggerUi from "swagger-ui-dist/package.json" with { type: "json" };
import { createKeyText } from "../../../../src/auth/api-key.ts";
import { getRequest } from "../../servers/load.ts";
import { flood, HELD_MAX, hold } from "../attack/sending.ts";
import type { Shape, Target } from "../shape.ts";

const CONNECTIONS = 64;
const CURRENT = "/api/v1/locations/current";
const PIPELINED = 200;
/** Just below the limit of Bun's parser, 16 KiB, and above it. */
const LONG_CHARACTERS = 15_000;
const ENDLESS_CHARACTERS = 1_000_000;

/** Attacks without a key. */
export const STRANGERS: readonly Shape[] = [
  flooding("docs-bundle", "the script of the documents' page, over and over", ({ url }) =>
    getRequest(`${url}/docs/ui/${swaggerUi.version}/swagger-ui-bundle.js`, { "accept-encoding": "gzip" }),
  ),
  flooding("docs-document", "the documents themselves, over and over", ({ url }) =>
    getRequest(`${url}/docs`, { "accept-encoding": "gzip, br" }),
  ),
  flooding("no-key", "queries without a key", ({ url }) => getRequest(url + CURRENT, {})),
  flooding("unknown-keys", "queries with an unknown, well-formed key", ({ url }) =>
    getRequest(url + CURRENT, { authorization: `Bearer ${createKeyText()}` }),
  ),
  flooding("unknown-paths", "paths that lead nowhere", ({ url }) =>
    getRequest(`${url}/${"a/".repeat(LONG_CHARACTERS / 2)}`, {}),
  ),
  flooding("long-headers", "many long headers", ({ url }) =>
    getRequest(
      url + CURRENT,
      Object.fromEntries(
        Array.from({ length: 90 }, (_, index) => [`x-header-${index}`, "a".repeat(LONG_CHARACTERS / 100)]),
      ),
    ),
  ),
  flooding("long-queries", "a query of 2,000 parameters", ({ url }) =>
    getRequest(`${url}${CURRENT}?${"limit=1&".repeat(LONG_CHARACTERS / 8)}`, {}),
  ),
  flooding("preflights", "preflights of other sites", ({ url }) => {
    const head = Buffer.from(
      getRequest(url + CURRENT, { origin: "https://example.org", "access-control-request-method": "GET" }),
    );
    return Buffer.from(head.toString("latin1").replace("GET", "OPTIONS"), "latin1");
  }),
  {
    name: "endless-headers",
    title: "a header of a megabyte, on new connections all the time",
    directory: "plain",
    arm: (target) => () => {
      const text = `GET /health HTTP/1.1\r\nHost: a\r\nX-Long: ${"a".repeat(ENDLESS_CHARACTERS)}`;
      return churn(target, async (connection) => {
        void connection.write(text);
        target.count(String((await connection.answer()) ?? "cut off"));
      });
    },
  },
  {
    name: "pipelining",
    title: "200 questions at once on a connection",
    directory: "plain",
    arm(target) {
      const one = getRequest(`${target.url}/health`, {});
      const many = Buffer.concat(Array.from({ length: PIPELINED }, () => one));
      return () =>
        churn(target, async (connection) => {
          void connection.write(many);
          for (let answered = 0; answered < PIPELINED; answered++) {
            const status = await connection.answer();
            target.count(String(status ?? "cut off"));
            if (status === null) break;
          }
        });
    },
  },
  {
    name: "connection-churn",
    title: "connections that ask once and are broken off",
    directory: "plain",
    arm(target) {
      const request = getRequest(`${target.url}/health`, {});
      return () =>
        churn(target, async (connection) => {
          await connection.write(request);
          target.count("broken off");
        });
    },
  },
  {
    name: "silent-connections",
    title: "500 connections that say nothing, and 500 that stop in a header",
    directory: "plain",
    arm: (target) => () => {
      let opened = 0;
      const begin = "GET /health HTTP/1.1\r\nHo";
      return hold(target, (connection) => connection.write(opened++ % 2 === 0 ? "" : begin), {
        count: HELD_MAX * 2,
      });
    },
  },
];

function flooding(name: string, title: string, make: (target: Target) => Uint8Array): Shape {
  return {
    name,
    title,
    directory: "plain",
    arm(target) {
      const request = make(target);
      return () => flood(target, () => request, CONNECTIONS);
    },
  };
}

/** Many concurrent connections, each for one request. */
async function churn(
  target: Target,
  use: (connection: NonNullable<Awaited<ReturnType<Target["open"]>>>) => Promise<void>,
): Promise<void> {
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (target.goesOn()) {
        const connection = await target.open();
        if (connection === null) target.count("no connection");
        else await use(connection);
        connection?.close();
      }
    }),
  );
}
