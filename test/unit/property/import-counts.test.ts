import { afterAll, expect, test } from "bun:test";
import type { ImportScreen } from "../../../src/cli/import/screen.ts";
import { deliveryTo } from "../../../src/cli/import/target.ts";
import type { Deliver } from "../../../src/import/deliver.ts";
import { createPostDelivery } from "../../../src/import/post.ts";
import type { AppId } from "../../../src/model/ids.ts";
import { createManualClock } from "../../../src/model/time/clock.ts";
import type { ReferenceRecord } from "../../reference/records.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../support/archive-app.ts";
import * as fc from "../../support/fast-check.ts";
import { batchOf, type Report } from "../../support/reports/batches.ts";
import { APP_ID } from "../../support/test-app.ts";
import { countsOver, IMPORTED_BATCHES } from "../import/support/counted-rows.ts";

/*
 * Goal: what an import says is new was not there before and is there afterwards, and what it says of all rows adds up.
 * Method: files with repeats, winning and losing fixes, cut into batches of several sizes, with seals and starts
 * between them, into a directory and through a server; an export says how many records there are.
 */

afterAll(removeArchiveApps);

const screen = { onSealing() {} } as unknown as ImportScreen;

function intoDirectory({ directory }: ArchiveApp): Deliver {
  return deliveryTo(directory, APP_ID as AppId, { screen, reloadRetention: async () => undefined });
}

function throughServer(app: ArchiveApp): Deliver {
  return createPostDelivery({
    url: "http://here",
    key: app.keys.full,
    appId: null,
    post: (url, init) => app.fetch(url.replace("http://here", ""), init),
    wait: async () => undefined,
    signal: new AbortController().signal,
    onWait: () => undefined,
  });
}

const stories = fc.record({
  files: IMPORTED_BATCHES,
  batchRows: fc.constantFrom(1, 3, 12),
  between: fc.array(fc.constantFrom("nothing", "seal", "start"), { minLength: 5, maxLength: 5 }),
});

/** Batches are delivered as an import does: some at once. */
async function importFile(deliver: Deliver, rows: readonly Report[], batchRows: number) {
  const counts = { created: 0, sameTime: 0, alreadyThere: 0 };
  const batches: (readonly Report[])[] = [];
  for (let from = 0; from < rows.length; from += batchRows) batches.push(rows.slice(from, from + batchRows));
  for (const answer of await Promise.all(batches.map((batch) => deliver(batchOf(batch))))) {
    if (!answer.ok) throw new Error(answer.error);
    counts.created += answer.value.created;
    counts.sameTime += answer.value.sameTime;
    counts.alreadyThere += answer.value.alreadyThere;
  }
  return counts;
}

async function countRecords(app: ArchiveApp): Promise<number> {
  const answer = await app.fetch("/api/v1/export?format=ndjson&start_date=2026-01-14&end_date=2026-01-14", {
    headers: { authorization: `Bearer ${app.keys.full}` },
  });
  expect(answer.status).toBe(200);
  return (await answer.text()).split("\n").filter((line) => line !== "").length;
}

test.each([
  ["into a directory", intoDirectory],
  ["through a server", throughServer],
])("an import's counts are exact over archived days, %s", async (_name, open) => {
  await fc.assert(
    fc.asyncProperty(stories, async ({ files, batchRows, between }) => {
      let app = await createArchiveApp({ clock: createManualClock(Date.UTC(2026, 0, 28, 12)) });
      const records = new Map<string, ReferenceRecord>();
      try {
        for (const [index, rows] of files.entries()) {
          const before = await countRecords(app);
          const counts = await importFile(open(app), rows, batchRows);
          // Which of the others repeat a record of the archive is known of the first row of an instant alone.
          expect(counts.created).toBe(countsOver(records, rows).created);
          expect(counts.created + counts.sameTime + counts.alreadyThere).toBe(rows.length);
          expect(counts.created).toBe((await countRecords(app)) - before);
          if (between[index] !== "nothing") await app.seal();
          if (between[index] === "start") app = await app.restart();
        }
      } finally {
        await app.close();
      }
    }),
    { numRuns: 12, endOnFailure: true },
  );
});

test("ordinary ingest asks the archive nothing; a count that is not exact is refused", async () => {
  const app = await createArchiveApp();
  const report = { device_id: "a", timestamp: Date.UTC(2026, 0, 14), latitude: 1, longitude: 2 };
  await app.store([report, { ...report, timestamp: report.timestamp + 1000 }]);
  await app.seal();
  const send = (query: string) =>
    app.fetch(`/ingest/v1/locations${query}`, {
      method: "POST",
      headers: { authorization: `Bearer ${app.keys.full}`, "content-type": "application/json" },
      body: JSON.stringify(report),
    });
  expect((await send("?count=roughly")).status).toBe(400);
  expect((await send("?count=exact")).headers.get("wherehouse-new-records")).toBe("0");
  await app.seal();
  expect((await send("")).headers.get("wherehouse-new-records")).toBe("1");
  await app.close();
});
