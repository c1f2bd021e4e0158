import { afterAll, expect, test } from "bun:test";
import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { writeAcknowledged } from "../../../../src/directory/damaged-files.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import { FixedRetention } from "../../../../src/model/time/retention.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { createNodeFiles } from "../../../../src/runtime/node-files.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import * as fc from "../../../support/fast-check.ts";
import { NOON_MS } from "../../../support/test-app.ts";
import { BUS, KEYED, pathTo } from "../requests.ts";

/**
 * Goal: nobody is told that an answer holds which would be another now. Reports, seals, midnights, other retentions,
 * damage that comes, goes and is acknowledged happen in any order, before requests and while they are answered; every
 * answer of every endpoint with tags is remembered under its tag, and all of a tag's are held against what is answered
 * now where a 304 comes.
 */

afterAll(removeArchiveApps);

const FROM_MS = NOON_MS - 12 * MS_PER_DAY;
const files = createNodeFiles();

const PATHS = KEYED.filter(({ isTagged }) => isTagged).map((endpoint) =>
  pathTo(endpoint)
    .replace(/start=\d+/, `start=${FROM_MS}`)
    .replace(/end=\d+/, `end=${FROM_MS + 30 * MS_PER_DAY}`),
);

const happening = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      key: fc.constantFrom("full", "other"),
      device_id: fc.constantFrom(BUS.device_id, "tram"),
      daysAgo: fc.nat(12),
      speed: fc.nat(3),
    }),
  },
  { weight: 3, arbitrary: fc.constantFrom("seal", "damage", "mend", "acknowledge") },
  { weight: 2, arbitrary: fc.record({ days: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ retention: fc.constantFrom("7d", "10d", "forever") }) },
);
type Happening = typeof happening extends fc.Arbitrary<infer Value> ? Value : never;

/** Each at least once, and in an order in which it means something. */
const WHOLE_STORY: readonly Happening[] = [
  { days: 9 },
  { key: "full", device_id: BUS.device_id, daysAgo: 0, speed: 1 },
  "seal",
  "damage",
  "mend",
  "damage",
  "acknowledge",
  "mend",
  { key: "full", device_id: BUS.device_id, daysAgo: 9, speed: 2 },
  "seal",
  { retention: "7d" },
  { days: 2 },
  "seal",
  { days: 2 },
  "seal",
  { retention: "forever" },
];

async function follow(story: readonly Happening[], isMeanwhile: boolean): Promise<void> {
  const clock = createManualClock(NOON_MS);
  let inForce = FixedRetention.FOREVER;
  const retention = { text: "as it is set", startMs: (nowMs: number) => inForce.startMs(nowMs) };
  const app = await createArchiveApp({ clock, retention });
  /** By tag, all that it was given to: more than one where something happened while it was made. */
  const known = new Map<string, Set<string>>();
  const tagsOf = new Map(PATHS.map((path) => [path, new Set<string>()]));
  const happen = async (what: Happening) => {
    if (what === "seal") await app.seal();
    else if (typeof what === "string") await harm(app, what);
    else if ("days" in what) clock.advance(what.days * MS_PER_DAY);
    else if ("retention" in what) {
      const parsed = FixedRetention.parse(what.retention);
      if (parsed.ok) inForce = parsed.value;
    } else {
      const { key, daysAgo, ...report } = what;
      await app.post([{ ...BUS, ...report, timestamp: clock.nowMs() - daysAgo * MS_PER_DAY }], key);
    }
  };
  const ask = async (path: string, tags: Iterable<string> = []) => {
    const more = { "if-none-match": [...tags].join(", ") };
    const headers = { authorization: `Bearer ${app.keys.full}`, ...more };
    const response = await app.fetch(path, { headers });
    const bytes = Buffer.from(await response.arrayBuffer()).toString("latin1");
    return { status: response.status, tag: response.headers.get("etag"), bytes };
  };
  const remember = (path: string, { tag, bytes }: Awaited<ReturnType<typeof ask>>) => {
    if (tag === null) return; // It failed.
    known.set(tag, (known.get(tag) ?? new Set()).add(bytes));
    tagsOf.get(path)!.add(tag);
  };
  try {
    await app.store([NOON_MS, NOON_MS - MS_PER_DAY].map((timestamp) => ({ ...BUS, timestamp })));
    for (const what of story) {
      const begun = isMeanwhile ? PATHS.map((path) => ask(path)) : [];
      await happen(what); // While they are answered.
      for (const [index, answer] of begun.entries()) remember(PATHS[index]!, await answer);
      for (const path of PATHS) {
        const again = await ask(path, tagsOf.get(path));
        const fresh = await ask(path);
        // Damage that nobody has come upon yet makes nothing wrong of what was read before.
        if (fresh.status === 500) continue;
        if (again.status === 304) expect([path, [...known.get(again.tag!)!]]).toEqual([path, [fresh.bytes]]);
        else if (fresh.tag !== null && again.tag === fresh.tag)
          expect([path, again.bytes]).toEqual([path, fresh.bytes]);
        remember(path, fresh);
      }
    }
  } finally {
    await app.close();
  }
}

/** Does something to the first file of the archive. */
async function harm(app: ArchiveApp, what: "damage" | "mend" | "acknowledge"): Promise<void> {
  const [part] = [...app.directory.archive.manifest.days.values()].flatMap(({ parts }) => parts);
  if (part === undefined) return;
  const path = join(app.dataDir, "archive", part.file);
  const aside = join(app.dataDir, "aside");
  if (what === "damage" && existsSync(path) && !existsSync(aside)) renameSync(path, aside);
  else if (what === "mend" && existsSync(aside) && !existsSync(path)) renameSync(aside, path);
  else if (what === "acknowledge") {
    const lost = [{ name: part.file, bytes: part.bytes }];
    await writeAcknowledged(files, join(app.dataDir, "damaged"), lost);
  }
}

test.each([false, true])(
  "a 304 comes only where the answer would be the same: a story of everything, answers made meanwhile: %p",
  (isMeanwhile) => follow(WHOLE_STORY, isMeanwhile),
);

test("a 304 comes only where the answer would be the same, whatever happens before and meanwhile", async () => {
  const stories = fc.array(happening, { maxLength: 10 });
  await fc.assert(fc.asyncProperty(stories, fc.boolean(), follow), { numRuns: 6 });
});
