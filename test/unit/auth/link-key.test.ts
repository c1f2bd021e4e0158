import { expect, test } from "bun:test";
import type { KeySpec } from "../../../src/auth/key-store.ts";
import { keyForLink } from "../../../src/auth/link-key.ts";
import type { DeviceId } from "../../../src/model/ids.ts";
import { openTestKeys, SPEC } from "./test-keys.ts";

test("keyForLink() is the first key that lives, may read and is bound to nobody", async () => {
  const { clock, store } = await openTestKeys();
  const create = async (spec: Partial<KeySpec>) => {
    const created = await store.create({ ...SPEC, ...spec });
    if (!created.ok) throw new Error(created.error.kind);
    return created.value.key;
  };
  expect(keyForLink(store)).toBeNull();
  await create({ permissions: ["write"] });
  await create({ permissions: ["operate"] });
  await create({ deviceId: "pixel7" });
  await create({ userId: "anna" });
  const expiresMs = clock.nowMs() + 1000;
  const view = { deviceIds: ["bus" as DeviceId], notBeforeMs: 0, precisionMeters: null };
  await create({ permissions: ["view"], view, expiresMs });
  expect(keyForLink(store)).toBeNull();
  const first = await create({ expiresMs });
  const second = await create({ permissions: ["read", "write"] });
  const third = await create({});
  expect(keyForLink(store)).toEqual(first);
  clock.advance(1000);
  expect(keyForLink(store)).toEqual(second);
  await store.revoke(second.id);
  expect(keyForLink(store)).toEqual(third);
});
