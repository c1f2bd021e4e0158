import { expect, test } from "bun:test";
import { profileBytes } from "../../../../src/hot/device-profiles.ts";
import { createHotStore } from "../../../../src/hot/hot-store.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import { createEditProfile } from "../../../../src/service/ingest/edit-profile.ts";
import { followLog } from "../../../../src/service/ingest/memory-follower.ts";
import { createStandingAppend } from "../../../../src/service/ingest/standing-append.ts";
import { profileOf } from "../../../reference/profiles.ts";
import { createSimulatedFiles } from "../../../support/disk/simulated-files.ts";
import { NO_SEALS } from "../../../support/empty-archive.ts";
import { openTestWal } from "../../wal/fixture.ts";

const APP = "app" as AppId;
const OTHER = "other" as AppId;
const PROFILE = profileOf({ name: "x".repeat(100) });
const DEVICES = ["a", "b", "c", "d"] as DeviceId[];
const BYTES = profileBytes(DEVICES[0]!, PROFILE);

async function open(bytesMax = 3 * BYTES) {
  const files = createSimulatedFiles();
  const scheduler = new Scheduler();
  const hot = createHotStore(scheduler);
  const { wal: log } = await openTestWal(files);
  const memory = followLog({ log, hot, messages: null, schedule: NO_SEALS, scheduler });
  const refusals: string[] = [];
  const onRefusal = ({ kind }: { kind: string }) => refusals.push(kind);
  return {
    files,
    hot,
    log,
    refusals,
    edit: createEditProfile({ append: createStandingAppend({ log, memory, onRefusal }), hot, bytesMax }),
  };
}

test("editProfile() is visible and durable once it resolves", async () => {
  const { hot, edit, files } = await open();
  expect(await edit(APP, DEVICES[0]!, PROFILE)).toEqual({ ok: true, value: 1 });
  expect(hot.profiles.find(APP, "a")).toEqual(PROFILE);
  expect(await edit(APP, DEVICES[0]!, null)).toEqual({ ok: true, value: 2 });
  expect(hot.profiles.find(APP, "a")).toBeNull();
  expect((await openTestWal(files.crash())).found).toEqual(["1 profile of a", "2 profile of a"]);
});

test("editProfile() refuses what is beyond the app's share, also of what is under way, and no other app", async () => {
  const { hot, edit } = await open();
  const outcomes = await Promise.all(DEVICES.map((device) => edit(APP, device, PROFILE)));
  expect(outcomes.map(({ ok }) => ok)).toEqual([true, true, true, false]);
  expect(outcomes[3]).toEqual({ ok: false, error: { kind: "too_many_profiles", bytesMax: 3 * BYTES } });
  expect((await edit(OTHER, DEVICES[3]!, PROFILE)).ok).toBe(true);
  expect((await edit(APP, DEVICES[0]!, profileOf({ name: "y".repeat(100) }))).ok).toBe(true); // In its place.
  expect((await edit(APP, DEVICES[0]!, profileOf({ name: "y".repeat(101) }))).ok).toBe(false);
  expect((await edit(APP, DEVICES[1]!, null)).ok).toBe(true);
  expect((await edit(APP, DEVICES[3]!, PROFILE)).ok).toBe(true);
  expect([hot.profiles.bytesOf(APP), hot.profiles.countOf(APP), hot.profiles.count]).toEqual([
    3 * BYTES,
    3,
    4,
  ]);
});

test("editProfile() says what the log refuses, and frees the room", async () => {
  const { edit, log, refusals, hot } = await open(BYTES);
  await log.close();
  for (let times = 0; times < 2; times++)
    expect(await edit(APP, DEVICES[0]!, PROFILE)).toMatchObject({
      ok: false,
      error: { kind: "unavailable" },
    });
  expect(refusals).toEqual(["log_closed", "log_closed"]);
  expect(hot.profiles.count).toBe(0);
});
