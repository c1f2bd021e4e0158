import { expect, test } from "bun:test";
import { damageLine } from "../../../../src/cli/screen/damage-line.ts";

test("damageLine() says where how much is damaged, and where it is now", () => {
  expect(damageLine({ file: "/d/wal/1.wal", offset: 64, bytes: 1, savedAs: null })).toBe(
    "Damaged: 1 byte of /d/wal/1.wal at 64, left in place.",
  );
  expect(damageLine({ file: "/d/wal/1.wal", offset: 0, bytes: 1234, savedAs: "/d/damaged/x" })).toBe(
    "Damaged: 1,234 bytes of /d/wal/1.wal at 0, set aside as /d/damaged/x.",
  );
});
