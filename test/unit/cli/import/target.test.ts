import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { OpenDirectory } from "../../../../src/app/directory.ts";
import type { ImportOptions } from "../../../../src/cli/import/command.ts";
import { createImportScreen } from "../../../../src/cli/import/screen.ts";
import { deliveryTo, openTarget, type TargetDependencies } from "../../../../src/cli/import/target.ts";
import { ok } from "../../../../src/lib/result.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import type { ReportBatch } from "../../../../src/model/report-batch.ts";
import { systemClock } from "../../../../src/model/time/clock.ts";
import { createPlatform } from "../../../../src/runtime/platform.ts";
import { turns } from "../../../support/turns.ts";
import { withDirectory } from "../support/run-cli.ts";

const APP = "shop" as AppId;
const TERMINAL = {
  error: () => {},
  out: () => {},
  errorIsTerminal: false,
} as unknown as TargetDependencies["terminal"];
const screen = createImportScreen(TERMINAL);

/** A batch that is told from others by how many reports it has. */
const batch = (count: number) => ({ count }) as ReportBatch;

test("a batch that needs no room waits for one before it that does", async () => {
  const taken: string[] = [];
  const sealed = Promise.withResolvers<void>();
  const directory = {
    archive: { manifest: { days: new Map() } },
    schedule: {
      async makeRoomFor({ count }: ReportBatch) {
        if (count === 1) await sealed.promise;
      },
    },
    exactIngest:
      () =>
      async (_: AppId, { count }: ReportBatch) => {
        taken.push(`batch ${count}`);
        return ok({ accepted: count, duplicates: 0, created: count, blocked: [], sequence: 0 });
      },
  } as unknown as OpenDirectory;
  const reloadRetention = async () => void taken.push("retention");
  const deliver = deliveryTo(directory, APP, { screen, reloadRetention });
  const answers = [1, 2, 3].map((count) => deliver(batch(count)));
  await turns();
  expect(taken).toEqual(["retention"]);
  sealed.resolve();
  expect((await Promise.all(answers)).every(({ ok }) => ok)).toBe(true);
  expect(taken.filter((each) => each !== "retention")).toEqual(["batch 1", "batch 2", "batch 3"]);
});

test("rows of an erased and blocked device are rejected", async () => {
  const answer = {
    accepted: 1,
    duplicates: 0,
    created: 1,
    outranked: 0,
    repeated: 0,
    blocked: [0, 2],
    sequence: 1,
  };
  const directory = {
    schedule: { makeRoomFor: async () => undefined },
    exactIngest: () => async () => ok(answer),
  } as unknown as OpenDirectory;
  const deliver = deliveryTo(directory, APP, { screen, reloadRetention: async () => undefined });
  const message = "erased: reports of this device or user are refused since it was erased";
  expect(await deliver(batch(3))).toMatchObject({
    ok: true,
    value: { created: 1, alreadyThere: 0, rejected: [0, 2].map((index) => ({ index, message })) },
  });
});

test("a directory is left alone whose retention was set while the files were read", () =>
  withDirectory(async (directory) => {
    const dataDir = join(directory, "data");
    const retention = { text: "365d", startMs: () => 0 };
    const opened = await openTarget({ dataDir, target: { kind: "directory", appId: APP } } as ImportOptions, {
      platform: createPlatform(),
      clock: systemClock,
      retention,
      async reloadRetention() {
        retention.text = "30d";
      },
      screen,
      terminal: TERMINAL,
      signal: new AbortController().signal,
    });
    expect(opened).toEqual({
      ok: false,
      error: "The retention changed from 365d to 30d while the files were read. Repeat the same command.",
    });
    expect(existsSync(dataDir)).toBe(false);
  }));
