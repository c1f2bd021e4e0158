import { FIRST_APP } from "../../app/first-key.ts";
import { directoryPaths } from "../../directory/paths.ts";
import { assert } from "../../lib/assert.ts";
import { UNBOUND } from "../../model/binding.ts";
import type { Clock } from "../../model/time/clock.ts";
import type { Platform } from "../../runtime/platform.ts";
import { openKeys } from "../keys/keys.ts";

/** The key that a demo reports with and signs in with: the one of its last run, as long as that is good. */
export async function demoKey(dataDir: string, platform: Platform, clock: Clock): Promise<string> {
  const { files } = platform;
  const { firstKey: path } = directoryPaths(dataDir);
  const keys = await openKeys("demo", dataDir, platform, clock);
  if (await files.exists(path)) {
    const text = new TextDecoder().decode(await files.read(path)).trim();
    if (keys.find(text).kind === "known") return text;
  }
  const created = await keys.create({
    appId: FIRST_APP,
    permissions: ["read", "write"],
    view: null,
    tier: "unlimited",
    label: "demo",
    ...UNBOUND,
    expiresMs: null,
  });
  assert(created.ok, "keys can be written");
  await files.replace(path, new TextEncoder().encode(`${created.value.text}\n`));
  return created.value.text;
}
