import { afterAll, describe, expect, test } from "bun:test";
import { seededRandom } from "../../support/seeded-random.ts";
import { until } from "../../support/until.ts";
import { createPicker } from "../support/random.ts";
import type { App } from "./apps/app.ts";
import { APPS } from "./apps/apps.ts";
import { colotaOverland } from "./apps/colota.ts";
import { createJourney } from "./phone/journey.ts";
import { createPace } from "./phone/pace.ts";
import { createPhone } from "./phone/phone.ts";

/*
 * What each client does with a point, by the answer it gets: the rules that the specification has from the clients'
 * own sources. Whatever the simulated phones say of a server rests on these.
 */

const TIMES = 10_000;
const SENDS_TO_SEE = 5; // A point that is sent so often is kept.

const SUCCESS: Readonly<Record<string, string>> = {
  "OwnTracks Android": "[]",
  "OwnTracks iOS": "[]",
  Overland: '{"result":"ok"}',
  "Colota, Overland mode": '{"result":"ok"}',
  "Home Assistant": "{}",
  PhoneTrack: '{"done":1,"friends":[]}',
};

const ANSWERS: Readonly<Record<string, (app: App) => Response>> = {
  "its success": ({ name }) => {
    const body = SUCCESS[name] ?? "";
    const type = body === "" ? {} : { "content-type": "application/json" };
    return new Response(body, { headers: type });
  },
  "another's success": () => new Response("fine", { headers: { "content-type": "text/html" } }),
  "a 401": () => new Response("Unknown key", { status: 401, headers: { "retry-after": "30" } }),
  "a 413": () => new Response("Too long", { status: 413 }),
  "a 503": () => new Response("Full", { status: 503, headers: { "retry-after": "30" } }),
  "a redirect": () => new Response("", { status: 302, headers: { location: "/" } }),
};

/** By client: what becomes of the point after each answer, in the order of `ANSWERS`. */
const FATES: Readonly<Record<string, readonly string[]>> = {
  "OwnTracks Android": ["taken", "taken", "kept", "kept", "kept", "kept"],
  "OwnTracks iOS": [
    "taken",
    "taken",
    "lost by the server's fault",
    "lost by the server's fault",
    "kept",
    "kept",
  ],
  Overland: ["taken", "kept", "kept", "kept", "kept", "kept"],
  "Traccar Client 8 Android": ["taken", "taken", "kept", "kept", "kept", "taken"],
  "Traccar Client 8 iOS": ["taken", "taken", "lost", "lost", "lost", "lost"],
  "Traccar Client 9": ["taken", "taken", "kept", "kept", "kept", "kept"],
  "Traccar Client 10": ["taken", "taken", "kept", "kept", "kept", "kept"],
  "Traccar server": ["taken", "taken", "lost", "lost", "lost", "lost"],
  OsmAnd: ["taken", "taken", "lost", "lost", "lost", "lost"],
  GPSLogger: ["taken", "taken", "lost", "lost", "lost", "lost"],
  "GPSLogger, whole file": ["taken", "taken", "kept", "kept", "kept", "kept"],
  "GPSLogger, OpenGTS": ["taken", "taken", "lost", "lost", "lost", "lost"],
  Colota: ["taken", "taken", "kept", "kept", "kept", "kept"],
  "Colota, Overland mode": ["taken", "kept", "kept", "kept", "kept", "kept"],
  "Home Assistant": ["taken", "taken", "lost", "lost", "lost", "lost"],
  PhoneTrack: ["taken", "kept", "kept", "kept", "kept", "kept"],
};

let answerNext: () => Response = () => new Response();
const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => answerNext() });
const url = `http://127.0.0.1:${server.port}`;
afterAll(() => server.stop(true));

function phoneWith(app: App, serverUrl: string) {
  const journey = createJourney({
    track: [{ device_id: "bus", timestamp: 0, latitude: 42.36, longitude: -71.06 }],
    pick: createPicker(seededRandom(1)),
    oddities: [],
    oddShare: 0,
    wholeSeconds: app.wholeSeconds,
    startMs: Date.now() - 3_600_000,
    stepMs: 2000,
  });
  const names = { name: app.name, appId: "north", user: "anna", device: "phone-1", boundTo: null };
  const phone = createPhone({ ...names, app, url: serverUrl, journey, pace: createPace(TIMES) });
  phone.typeKey("wh_key", "k_1");
  return phone;
}

/** The fate of the phone's first point, once it has one or is seen to be kept. */
async function fateOf(phone: ReturnType<typeof phoneWith>): Promise<string> {
  phone.switchOn();
  phone.makePoint();
  const [entry] = phone.ledger.entries;
  const isSeen = () => entry!.sends >= SENDS_TO_SEE && phone.app.name !== "OsmAnd";
  await until(() => entry!.fate.kind !== "waiting" || isSeen());
  const { fate } = entry!;
  await phone.switchOff();
  if (fate.kind === "waiting") return "kept";
  return fate.kind === "lost" && fate.isServersFault ? "lost by the server's fault" : fate.kind;
}

for (const app of APPS) {
  describe(app.name, () => {
    for (const [index, [what, answer]] of Object.entries(ANSWERS).entries()) {
      const fate = FATES[app.name]![index]!;
      test(`a point that is answered with ${what} is ${fate}`, async () => {
        answerNext = () => answer(app);
        expect(await fateOf(phoneWith(app, url))).toBe(fate);
      });
    }
  });
}

test("a batch of Colota's that is refused as a mistake is halved until each point was alone", async () => {
  const counts: number[] = [];
  const refusing = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { locations } = (await request.json()) as { readonly locations: readonly unknown[] };
      counts.push(locations.length);
      return new Response("no", { status: 400 });
    },
  });
  const phone = phoneWith(colotaOverland, `http://127.0.0.1:${refusing.port}`);
  for (let point = 0; point < 4; point++) phone.makePoint();
  phone.switchOn();
  await until(() => counts.length >= 7);
  await phone.switchOff();
  await refusing.stop(true);
  expect(counts.slice(0, 7)).toEqual([4, 2, 1, 1, 2, 1, 1]);
});
