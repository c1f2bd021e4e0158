import { afterAll, beforeAll, describe, expect } from "bun:test";
import { join } from "node:path";
import { nativeDeno } from "../../support/native-deno.ts";
import {
  closePlace,
  type Ended,
  openPlace,
  RUNTIMES,
  readFirstKey,
  runCommand,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { get } from "../support/client.ts";
import { test } from "../support/process-test.ts";

/* What examples/ has, run as its readers would against a server of its own. */

const EXAMPLES = join(import.meta.dir, "../../../examples");
const TYPESCRIPT = join(EXAMPLES, "typescript/courier.ts");
const FREE_BURST = 20;
const ASKED_BY_NO_EXAMPLE = "/api/v1/users/nobody/devices";

const PYTHON = Bun.which("python3");
if (PYTHON === null) console.warn("Left out: the Python example, since there is no python3.");

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  curl: [join(EXAMPLES, "curl/courier.sh")],
  "TypeScript on Bun": [process.execPath, TYPESCRIPT],
  "TypeScript on Deno": [nativeDeno(), "run", "--allow-net=127.0.0.1", "--allow-env", TYPESCRIPT],
  ...(PYTHON === null ? {} : { Python: [PYTHON, join(EXAMPLES, "python/courier.py")] }),
};
const NAMES = Object.keys(COMMANDS);

const place = openPlace();
let server: ServerProcess;
let key = "";

beforeAll(async () => {
  server = await startReady(RUNTIMES[0]!, place, ["--log-level", "debug"]);
  key = readFirstKey(place);
});

afterAll(() => closePlace(place));

async function run(name: string, deviceId: string, withKey = key, url = server.url): Promise<Ended> {
  const child = Bun.spawn([...COMMANDS[name]!, deviceId], {
    env: { ...process.env, NO_COLOR: "1", WHEREHOUSE_URL: url, WHEREHOUSE_KEY: withKey },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, error, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, error };
}

describe("examples", () => {
  test.each(NAMES)(
    "%s reports three positions, pages through them, and finds the device nearby",
    async (name) => {
      const deviceId = `courier-${NAMES.indexOf(name)}`;
      const { code, out, error } = await run(name, deviceId);
      expect({ code, error }).toEqual({ code: 0, error: "" });
      const stored = await get({ url: server.url, key }, `/api/v1/locations/current?limit=1000`);
      const { locations } = (await stored.json()) as {
        locations: readonly Readonly<Record<string, unknown>>[];
      };
      const last = { device_id: deviceId, latitude: 53.4039, longitude: -2.996 };
      expect(locations.find(({ device_id }) => device_id === deviceId)).toMatchObject(last);
      expect(name === "curl" ? seenInAnswers(out, deviceId) : seenInSentences(out, deviceId)).toEqual({
        accepted: 3,
        current: [53.4039, -2.996],
        history: [
          [53.401, -2.9942],
          [53.4024, -2.9951],
          [53.4039, -2.996],
        ],
        nearbyMiles: 0.0069,
      });
    },
  );

  test.each(NAMES)("%s ends with the server's words where the key is wrong", async (name) => {
    const { code, error } = await run(name, "nobody", "wh_wrong");
    expect(code).toBe(1);
    expect(error).toContain("401");
    expect(error).toContain("the API key is not known");
  });

  test.each(NAMES)("%s ends with a reason where nobody listens", async (name) => {
    const listener = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    const address = `127.0.0.1:${listener.port}`;
    await listener.stop(true);
    const { code, error } = await run(name, "nobody", key, `http://${address}`);
    expect(code).toBe(1);
    expect(error).toMatch(new RegExp(address.replace(":", "(:| port )")));
    expect(error).toMatch(/connect|refused/i);
  });

  test.each(NAMES)("%s waits where its key has asked too often", async (name) => {
    const flags = ["--app", "free", "--permission", "read", "--permission", "write", "--tier", "free"];
    const { out } = await runCommand(RUNTIMES[0]!, place, ["keys", "create", ...flags]);
    const client = { url: server.url, key: out.trim() };
    await until(async () => (await get(client, ASKED_BY_NO_EXAMPLE)).status !== 401); // The key is known.
    const refusedBefore = countRefusedExamples();
    const ended = run(name, "hurried", client.key);
    while (countRefusedExamples() === refusedBefore) {
      await Promise.all(Array.from({ length: FREE_BURST }, () => get(client, ASKED_BY_NO_EXAMPLE)));
    }
    expect((await ended).code).toBe(0);
  });
});

/** Requests of examples that got a 429, as the server's log has them. */
function countRefusedExamples(): number {
  const requests = server.error.split("\n").filter((line) => line.includes('"event":"request"'));
  return requests.filter((line) => line.includes('"status":429') && !line.includes("/users/")).length;
}

interface Seen {
  readonly accepted: number;
  readonly current: readonly number[];
  readonly history: readonly (readonly number[])[];
  readonly nearbyMiles: number | undefined;
}

interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

const pointOf = ({ latitude, longitude }: Point) => [latitude, longitude];

/** What the answers say that the shell script prints: stored, current, two pages of history, nearby. */
function seenInAnswers(out: string, deviceId: string): Seen {
  const [stored, current, first, second, nearby] = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect([first.pagination.has_more, second.pagination.has_more]).toEqual([true, false]);
  const results = nearby.results as readonly { device_id: string; distance_miles: number }[];
  return {
    accepted: stored.accepted,
    current: pointOf(current.location),
    history: [...first.locations, ...second.locations].map(pointOf),
    nearbyMiles: results.find(({ device_id }) => device_id === deviceId)?.distance_miles,
  };
}

/** The same, from the sentences of the others. */
function seenInSentences(out: string, deviceId: string): Seen {
  const pointsIn = (pattern: RegExp) => [...out.matchAll(pattern)].map(([, ...point]) => point.map(Number));
  const nearby = new RegExp(`^${deviceId} is ([\\d.]+) miles`, "m").exec(out);
  return {
    accepted: Number(/^(\d+) reports accepted$/m.exec(out)?.[1]),
    current: pointsIn(new RegExp(`^${deviceId} is at ([\\d.-]+), ([\\d.-]+)$`, "gm"))[0]!,
    history: pointsIn(/^[\d-]+T[\d:.]+(?:Z|\+00:00) it was at ([\d.-]+), ([\d.-]+)$/gm),
    nearbyMiles: nearby === null ? undefined : Number(nearby[1]),
  };
}
