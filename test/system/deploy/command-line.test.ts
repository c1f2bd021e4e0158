import { expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { closePlace, openPlace, RUNTIMES, startReady } from "../../support/server-process.ts";
import { get, untilKnown } from "../support/client.ts";
import { asUser, canBeOthers, giveTo, OWNER_UID, ownersBelow } from "../support/other-user.ts";
import { test } from "../support/process-test.ts";

/* What docs/deploy.md and docs/monitor.md say to type beside the unit, typed beside a server of another user. */

const ROOT = join(import.meta.dir, "../../..");
const PAGES = ["deploy", "monitor"].map((name) => readFileSync(join(ROOT, `docs/${name}.md`), "utf8"));
const BUN_OF_UNIT = join(ROOT, "node_modules/@oven/bun-linux-x64/bin/bun");

const canTry = canBeOthers() && existsSync(BUN_OF_UNIT);
if (!canTry)
  console.warn("Left out: the command line beside the unit, which needs root, setpriv and Linux on x64.");

test.if(canTry)(
  "root's command line beside the unit leaves the directory its owner's, and the key opens /metrics",
  async () => {
    const place = openPlace();
    giveTo(OWNER_UID, place);
    const key = join(place.directory, "wherehouse.key");
    const [commandLine, recipe] = ["wherehouse() (", "install "].map((start) => shellBlock(start));
    const script = `${commandLine}\n${recipe}`
      .replaceAll("/opt/wherehouse", ROOT)
      .replaceAll("/var/lib/wherehouse", place.dataDir)
      .replaceAll("/etc/prometheus/wherehouse.key", key)
      .replaceAll("-o prometheus -g prometheus", `-o ${OWNER_UID} -g ${OWNER_UID}`);
    const server = await startReady(asUser(OWNER_UID, RUNTIMES[0]!), place);
    const typed = Bun.spawnSync(["bash", "-euc", script], { stdout: "pipe", stderr: "pipe" });
    expect(typed.stderr.toString()).toContain("may operate");
    expect([typed.exitCode, typed.stdout.toString()]).toEqual([
      0,
      expect.stringContaining("Nothing is damaged."),
    ]);
    expect(ownersBelow(place.dataDir).filter((entry) => !entry.startsWith(`${OWNER_UID}:`))).toEqual([]);
    const client = { url: server.url, key: readFileSync(key, "utf8").trim() };
    await untilKnown(client);
    expect((await get(client, "/metrics")).status).toBe(200);
    expect((await server.stop()).code).toBe(0);
    await closePlace(place);
  },
);

/** The block of shell commands that begins so. */
function shellBlock(start: string): string {
  return PAGES.join("\n")
    .split("```sh\n")
    .find((block) => block.startsWith(start))!
    .split("```")[0]!;
}
