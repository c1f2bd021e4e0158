import { expect, test } from "bun:test";
import { damageLine, sealSummary } from "../../../../src/cli/screen/directory-report.ts";
import type { SealReport } from "../../../../src/service/upkeep/seal/seal.ts";

const IDLE: SealReport = {
  days: [],
  records: 0,
  parts: 0,
  bytes: 0,
  blocked: [],
  expired: [],
  deleted: [],
  logBytes: 0,
  erased: null,
  unfinished: null,
  durationMs: 12,
};

test("sealSummary() tells of what was done, and of nothing where there was nothing", () => {
  expect(sealSummary(IDLE)).toBe("Archived nothing new.");
  expect(sealSummary({ ...IDLE, deleted: ["2025-01-01"], logBytes: 2e6 })).toBe(
    "Archived nothing new; 2025-01-01 deleted; 2.0 MB of the log freed.",
  );
  expect(
    sealSummary({ ...IDLE, days: ["2026-01-01", "2026-01-02"], records: 1, bytes: 1e5, durationMs: 1500 }),
  ).toBe("Archived 1 record of 2 days (2026-01-01 to 2026-01-02) as 0.1 MB in 1.5 s.");
  expect(sealSummary({ ...IDLE, days: ["2026-01-01"], records: 9, bytes: 23_456, durationMs: 500 })).toBe(
    "Archived 9 records of 2026-01-01 as 23.5 kB in 0.5 s.",
  );
});

test("damageLine() says where how much is damaged, and where it is now", () => {
  expect(damageLine({ file: "/d/wal/1.wal", offset: 64, bytes: 1, savedAs: null })).toBe(
    "Damaged: 1 byte of /d/wal/1.wal at 64, left in place.",
  );
  expect(damageLine({ file: "/d/wal/1.wal", offset: 0, bytes: 1234, savedAs: "/d/damaged/x" })).toBe(
    "Damaged: 1,234 bytes of /d/wal/1.wal at 0, set aside as /d/damaged/x.",
  );
});
