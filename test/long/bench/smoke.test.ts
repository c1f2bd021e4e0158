import { afterAll, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SLOW_BENCHES, smoke } from "../../system/bench/support/smoke.ts";

const folder = mkdtempSync(join(tmpdir(), "wherehouse-bench-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

test.each([...SLOW_BENCHES])(
  "%s runs, finds the answers it times equal, and leaves results that can be read",
  (name) => smoke(name, folder),
);
