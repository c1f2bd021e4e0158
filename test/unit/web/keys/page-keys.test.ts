import { expect, test } from "bun:test";
import { ApiError } from "../../../../src/web/api/api-error.ts";
import { Retries } from "../../../../src/web/api/retries.ts";
import { type PageKey, PageKeys } from "../../../../src/web/keys/page-keys.ts";

const KEY: PageKey = {
  id: "k_1",
  kind: "phone",
  label: "OwnTracks",
  device_id: "phone-1",
  view: null,
  created: 10,
  expires: null,
  revoked: null,
};

function setUp(listed: readonly PageKey[]) {
  const sent: unknown[] = [];
  const faults: Error[] = [];
  const keys = new PageKeys({
    api: {
      retries: new Retries(() => 1),
      get: async <Body>() => ({ keys: listed }) as Body,
      async send<Body>(method: string, path: string, body?: unknown): Promise<Body> {
        const fault = faults.shift();
        if (fault !== undefined) throw fault;
        sent.push([method, path, body]);
        return { key: { ...KEY, id: "k_new", created: 30 }, text: "wh_x" } as Body;
      },
    },
    changed: () => undefined,
  });
  return { keys, sent, faults };
}

const idsOf = (keys: PageKeys, kind: PageKey["kind"]) => keys.ofKind(kind, 100)?.map(({ id }) => id);

test("lists what still opens something, by kind, the newest first", async () => {
  const share = { ...KEY, kind: "share" as const };
  const { keys } = setUp([
    KEY,
    { ...KEY, id: "k_2", created: 20 },
    { ...KEY, id: "k_3", revoked: 50 },
    { ...share, id: "k_4", expires: 101 },
    { ...share, id: "k_5", expires: 100 },
  ]);
  expect(idsOf(keys, "phone")).toBeUndefined();
  await keys.load();
  expect(idsOf(keys, "phone")).toEqual(["k_2", "k_1"]);
  expect(idsOf(keys, "share")).toEqual(["k_4"]);
  keys.forget();
  expect(idsOf(keys, "phone")).toBeUndefined();
});

test("a key that is made is in the list, one that is revoked is not", async () => {
  const { keys, sent } = setUp([KEY]);
  await keys.load();
  expect(await keys.make({ kind: "phone" })).toMatchObject({ text: "wh_x" });
  expect(idsOf(keys, "phone")).toEqual(["k_new", "k_1"]);
  await keys.revoke("k_1");
  expect(idsOf(keys, "phone")).toEqual(["k_new"]);
  expect(sent).toEqual([
    ["POST", "/map/keys", { kind: "phone" }],
    ["DELETE", "/map/keys/k_1", undefined],
  ]);
});

test("a key that could not be revoked stays, and why is said", async () => {
  const { keys, faults } = setUp([KEY]);
  await keys.load();
  faults.push(new ApiError(503, "keys can't be changed now", { isOurs: true }));
  await keys.revoke("k_1");
  expect([idsOf(keys, "phone"), keys.fault]).toEqual([["k_1"], "Keys can't be changed now."]);
});
