import { expect } from "bun:test";
import { runCommand } from "../../support/server-process.ts";
import { store, untilKnown } from "../support/client.ts";
import { setProfile } from "./support/devices.ts";
import { pressInHeader } from "./support/header.ts";
import { describePage, type Stage } from "./support/stage.ts";
import type { Visit } from "./support/visit.ts";

/*
 * Goal: nothing is left of what a key has shown. Method: a page that shows devices is signed out; another is left as it
 * is while its key is revoked from the command line. Then the heap is searched for an id, and for the name of a device
 * that was edited. The id of a chosen device stays in the page's address.
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
          for (const text of ["van-1", "Grandmother"]) {
            expect(await page.content()).not.toContain(text);
            expect([text, await reachable(visit, text)]).toEqual([text, false]);
          }
        };
        await visit.enter(stage.key);
        await van.waitFor();
        await page.getByRole("option", { name: "Grandmother" }).click();
        await page.getByRole("button", { name: "Edit device" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
        await page.getByRole("dialog").waitFor({ state: "detached" });
        await page.keyboard.press("/");
        await page.keyboard.type("grandmother");
        for (const text of ["van-1", "Grandmother"]) expect(await reachable(visit, text)).toBe(true);
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
    async prepare({ client }) {
      await setProfile(client, "car-1", { name: "Grandmother", icon: "car" });
      const at = { timestamp: Date.now(), latitude: 51.5, longitude: -0.12 };
      await store(client, [
        { device_id: "van-1", ...at },
        { device_id: "car-1", ...at },
      ]);
    },
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
