import { expect } from "bun:test";
import { store, untilKnown } from "../runtime/support/client.ts";
import { runCommand } from "../support/server-process.ts";
import { describePage, type Stage } from "./support/stage.ts";
import type { Visit } from "./support/visit.ts";

/*
 * Goal: a key that is revoked shows nothing any more, and no key is kept anywhere. Method: a page that shows a device
 * is left as it is while its key is revoked from the command line.
 */

describePage(
  "leaving",
  (stage) => {
    stage.test(
      "a key that is revoked ends the stream, and sign-in takes the place of what was shown",
      async (visit, page) => {
        const { id, key } = await createKey(stage);
        await visit.enter(key);
        await page.getByRole("option", { name: "van-1" }).waitFor();
        await page.getByText("Live", { exact: true }).waitFor();
        visit.expect(/401/); // What the page asks with the key that has ended.
        await runCommand(stage.runtime, stage.place, ["keys", "revoke", id]);
        await page.getByLabel("Key", { exact: true }).waitFor();
        expect(await page.content()).not.toContain("van-1");
        expect(await reachable(visit, "van-1")).toBe(false);
      },
    );

    stage.test("signing out takes away what was shown", async (visit, page) => {
      await visit.enter(stage.key);
      await page.getByRole("option", { name: "van-1" }).waitFor();
      expect(await reachable(visit, "van-1")).toBe(true);
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByLabel("Key", { exact: true }).waitFor();
      expect(await page.content()).not.toContain("van-1");
      expect(await reachable(visit, "van-1")).toBe(false);
      await page.reload();
      await page.getByLabel("Key", { exact: true }).waitFor();
    });

    stage.test(
      "the key is in no storage, address, document, cookie of scripts or log",
      async (visit, page) => {
        await visit.goto("/map");
        await page.getByLabel("Key", { exact: true }).fill(stage.key);
        await page.keyboard.press("Enter");
        await page.getByRole("option", { name: "van-1" }).waitFor();
        const kept = await page.evaluate(async () => {
          const values = [...document.querySelectorAll("input")].map(({ value }) => value);
          const caches = await globalThis.caches.keys();
          const databases = await indexedDB.databases();
          const storage = [JSON.stringify(localStorage), JSON.stringify(sessionStorage)];
          return JSON.stringify([
            values,
            caches,
            databases,
            storage,
            document.cookie,
            location.href,
            history.state,
          ]);
        });
        const cookies = JSON.stringify(await visit.context.cookies());
        for (const text of [kept, cookies, await page.content(), stage.server.out, stage.server.error])
          expect(text).not.toContain(stage.key);
        expect(await page.evaluate(() => document.cookie)).toBe("");
        expect(await visit.context.cookies()).toMatchObject([{ httpOnly: true, sameSite: "Strict" }]);
      },
    );
  },
  {
    prepare: ({ client }) =>
      store(client, [{ device_id: "van-1", timestamp: Date.now(), latitude: 51.5, longitude: -0.12 }]),
  },
);

async function createKey({
  runtime,
  place,
  server,
}: Stage): Promise<{ readonly id: string; readonly key: string }> {
  const { out, error } = await runCommand(runtime, place, [
    "keys",
    "create",
    "--app",
    "default",
    "--permission",
    "read",
  ]);
  const key = out.trim();
  await untilKnown({ url: server.url, key });
  return { id: /k_\w+/.exec(error)![0], key };
}

/** Whether a text can still be found from the page's own objects, through the heap. */
async function reachable({ context, page }: Visit, text: string): Promise<boolean> {
  const session = await context.newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  let snapshot = "";
  session.on("HeapProfiler.addHeapSnapshotChunk", ({ chunk }) => {
    snapshot += chunk;
  });
  await session.send("HeapProfiler.takeHeapSnapshot", { reportProgress: false });
  await session.detach();
  return snapshot.includes(text);
}
