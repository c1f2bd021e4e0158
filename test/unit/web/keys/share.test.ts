import { expect, test } from "bun:test";
import { Retries } from "../../../../src/web/api/retries.ts";
import { Copying } from "../../../../src/web/keys/copying.ts";
import { PageKeys } from "../../../../src/web/keys/page-keys.ts";
import { Share } from "../../../../src/web/keys/share.ts";

const changed = () => undefined;

/** When the first device reported last; each next one was silent for two days more. */
const LAST_MS = Date.now() - 60_000;

const NAMES: Readonly<Record<string, string>> = { "truck-9": "Big Ben", "ben-1": "Car" };

function setUp(
  ids: string[],
  chosenId: string | null,
  send: ((data: object) => Promise<void>) | null = null,
) {
  const sent: unknown[] = [];
  const api = {
    retries: new Retries(),
    get: async <Body>() => ({ keys: [] }) as Body,
    async send<Body>(_method: string, _path: string, body?: unknown): Promise<Body> {
      sent.push(body);
      return { key: { id: "k_1", created: 1, view: { device_ids: ids } }, text: "wh_secret" } as Body;
    },
  };
  const share = new Share({
    keys: new PageKeys({ api, changed }),
    copying: new Copying(changed),
    devices: {
      size: ids.length,
      ids: [...ids, "beyond the last row"],
      timestampMs: ids.map((_, row) => LAST_MS - row * 48 * 3_600_000),
      rowOf: (id) => (ids.includes(id) ? ids.indexOf(id) : undefined),
      labels: [...ids.map((id) => NAMES[id] ?? id), "beyond the last row"],
      labelOf: (id) => NAMES[id] ?? id,
    },
    chosen: { id: chosenId },
    zones: { zone: "UTC" },
    origin: "https://where.example",
    send,
    changed,
  });
  share.open();
  return { share, sent };
}

test("the chosen device comes first, and others are found by their names", () => {
  const { share } = setUp(["bus-1", "BÜS-2", "truck-bus", "car"], "bus-1");
  expect(share.ids).toEqual(["bus-1"]);
  share.type("bus");
  expect(share.suggestions()).toEqual(["BÜS-2", "truck-bus"]);
  share.add("truck-bus");
  expect([share.search, share.suggestions()]).toEqual(["", []]);
  share.type("beyond");
  expect(share.suggestions()).toEqual([]);
  share.remove("bus-1");
  expect(share.ids).toEqual(["truck-bus"]);
});

test("devices are found by their names and ids, and sentences name them", () => {
  const { share } = setUp(["truck-9", "ben-1", "bus-1", "bus-2"], null);
  share.type("ben");
  expect(share.suggestions()).toEqual(["ben-1", "truck-9"]);
  share.type("TRUCK");
  expect(share.suggestions()).toEqual(["truck-9"]);
  expect(share.namesText(["truck-9", "bus-1"])).toBe("Big Ben, bus-1");
  expect(share.namesText(["truck-9", "ben-1", "bus-1", "bus-2", "bus-3"])).toBe(
    "Big Ben, Car, bus-1 and 2 more",
  );
});

test("no more is suggested than has room", () => {
  const ids = Array.from({ length: 100 }, (_, n) => `x-${n}`);
  const { share } = setUp(ids, null);
  share.type("x");
  expect(share.suggestions().length).toBe(6);
});

test("a link is the page's address with the key behind the #, and is gone once closed", async () => {
  const { share, sent } = setUp(["bus-1"], "bus-1");
  share.set({ precision: 2 });
  share.label = " Grandma ";
  await share.make();
  expect(share.made?.url).toBe("https://where.example/map/s#wh_secret");
  expect(sent).toMatchObject([
    { kind: "share", device_ids: ["bus-1"], precision_meters: 500, label: "Grandma" },
  ]);
  share.close();
  expect(share.made).toBeNull();
  share.open();
  expect(share.label).toBe("");
});

test("a link begins with the last position, unless its maker says otherwise", async () => {
  const { share, sent } = setUp(["bus-1", "bus-2"], "bus-1");
  expect(share.start()).toEqual({ fromMs: LAST_MS, silentIds: [] });
  await share.make();
  expect(sent).toMatchObject([{ not_before: LAST_MS }]);
  share.add("bus-2");
  share.add("bus-3");
  expect(share.start()).toEqual({ fromMs: LAST_MS, silentIds: ["bus-2"] });
  share.set({ from: 1 });
  expect(share.start()).toEqual({ fromMs: LAST_MS - 1_800_000, silentIds: ["bus-2"] });
  share.set({ from: 2 });
  expect(share.start()).toMatchObject({ silentIds: [] }); // From now on: no device is late.
});

test("where a link begins is unknown without a device, or before its first position", () => {
  const { share } = setUp([], "bus-1");
  expect(share.start()).toBeNull();
  share.set({ from: 2 });
  expect(share.start()).not.toBeNull();
  share.remove("bus-1");
  expect(share.start()).toBeNull();
});

test("a link is sent by the browser where it can, and a failure says what to do instead", async () => {
  const given: unknown[] = [];
  let failure: Error | null = null;
  const { share } = setUp(["bus-1", "bus-2"], "bus-1", async (data) => {
    given.push(data);
    if (failure !== null) throw failure;
  });
  await share.sendMade();
  expect([share.maySend, given]).toEqual([true, []]);
  await share.make();
  await share.sendMade();
  expect(given).toEqual([
    { title: "Live position of bus-1, bus-2", url: "https://where.example/map/s#wh_secret" },
  ]);
  failure = new DOMException("closed by the user", "AbortError");
  await share.sendMade();
  expect(share.sendFault).toBeNull();
  failure = new TypeError("no app");
  await share.sendMade();
  expect(share.sendFault).toBe("The link could not be sent: copy it instead.");
  expect(setUp(["bus-1"], "bus-1").share.maySend).toBe(false);
});

test("without a device there is no link", async () => {
  const { share, sent } = setUp(["bus-1"], null);
  await share.make();
  expect([share.fault, sent]).toEqual(["Choose a device first.", []]);
});

test("a link that comes once the dialog was closed is not shown in the next", async () => {
  const { share, sent } = setUp(["bus-1"], "bus-1");
  const making = share.make();
  share.close();
  expect(share.isMaking).toBeFalse();
  share.open();
  await making;
  expect([sent.length, share.made, share.isMaking]).toEqual([1, null, false]);
});
