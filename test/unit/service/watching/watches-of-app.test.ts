import { expect, test } from "bun:test";
import { WatchStore } from "../../../../src/geofences/watch-store.ts";
import { inOneTurn } from "../../../../src/lib/schedule/steps.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import type { WatchEntry } from "../../../../src/model/watches/watch-entry.ts";
import { LOOK_DEFAULT, RULES_DEFAULTS, type WatchDraft } from "../../../../src/model/watches/watch-rules.ts";
import { PreparedWatches } from "../../../../src/service/watching/watches-of-app.ts";

const APP = "fleet" as AppId;
const [VAN, BUS] = ["van" as DeviceId, "bus" as DeviceId];

function circle(radiusMeters: number): WatchDraft {
  const rules = { ...RULES_DEFAULTS.fence, devices: [VAN, BUS] };
  const area = { type: "Point", latitude: 1, longitude: 2, radiusMeters } as const;
  return { look: LOOK_DEFAULT, terms: { kind: "fence", rules, area } };
}

test("PreparedWatches prepares a fence again whenever its versions, its rules or its end change, and only then", () => {
  const store = new WatchStore();
  const apply = (draft: WatchDraft | null, atMs: number) => {
    const entry: WatchEntry = {
      ...{ kind: "watch", appId: APP, id: "f", watchKind: "fence", part: null, past: null },
      ...{ atMs, draft },
    };
    inOneTurn(store.apply(entry, atMs));
  };
  const prepared = new PreparedWatches();
  const find = () => prepared.of(store.find(APP)).find("f")!;
  apply(circle(10), 1);
  const first = find();
  expect(find()).toBe(first);
  apply({ ...circle(10), look: { ...LOOK_DEFAULT, name: "depot" } }, 2);
  expect(find()).toBe(first);
  apply(circle(20), 3);
  expect(find().versions.map(({ number }) => number)).toEqual([1, 2]);
  const range = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
  store.erase(APP, { appId: APP, deviceIds: [VAN], userId: null, range }, 4);
  expect(find().versions.map(({ devices }) => [...devices!])).toEqual([[BUS], [BUS]]);
  apply(null, 5);
  expect(find().deletedMs).toBe(5);
  inOneTurn(store.forget(4));
  expect(find().versions.map(({ number }) => number)).toEqual([2]);
});
