import { expect } from "bun:test";
import { runCommand } from "../../support/server-process.ts";
import { store, untilKnown } from "../support/client.ts";
import { pressInHeader } from "./support/header.ts";
import { describePage, type Stage } from "./support/stage.ts";
import type { Visit } from "./support/visit.ts";

/*
 * Goal: nothing is left of what a key has shown. Method: a page that shows a device is signed out; another is left as
 * it is while its key is revoked from the command line. Then the heap is searched for the device's name.
 */

describePage(
  "leaving",
  (stage) => {
    stage.test(
      "who signs out, or whose key is revoked, leaves nothing of what was shown",
      async (visit, page) => {
        const key = page.getByLabel("Key", { exact: true });
        const van = page.getByRole("option", { name: "van-1" });
        const isCleared = async () => {
          await key.waitFor();
          expect(await page.content()).not.toContain("van-1");
          expect(await reachable(visit, "van-1")).toBe(false);
        };
        await visit.enter(stage.key);
        await van.waitFor();
        expect(await reachable(visit, "van-1")).toBe(true);
        await pressInHeader(page, "Sign out");
        await isCleared();
        expect(await visit.context.cookies()).toEqual([]);

        const reader = await createKey(stage);
        await key.fill(reader.key);
        await page.keyboard.press("Enter");
        await van.waitFor();
        await page.getByText("Live", { exact: true }).waitFor();
        visit.expect(/401/); // What the page asks with the key that has ended.
        await runCommand(stage.runtime, stage.place, ["keys", "revoke", reader.id]);
        await isCleared();
      },
    );
  },
  {
    isPageAlone: true,
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
