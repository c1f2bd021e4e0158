import { afterEach, expect, test } from "bun:test";
import { Copying } from "../../../../src/web/keys/copying.ts";

const before = { navigator: globalThis.navigator, document: globalThis.document };
afterEach(() => Object.assign(globalThis, before));

/** A field of the page, in a browser that may have a clipboard. */
function setUp(clipboard: { writeText(text: string): Promise<void> } | undefined, doesCommand: boolean) {
  const done: string[] = [];
  const field = { value: "wh_x", focus: () => done.push("focus"), select: () => done.push("select") };
  const execCommand = (name: string) => {
    done.push(name);
    return doesCommand;
  };
  Object.assign(globalThis, { navigator: { clipboard }, document: { execCommand } });
  return { field: field as unknown as HTMLInputElement, done };
}

test("copies by the clipboard where there is one, and says so", async () => {
  const written: string[] = [];
  const { field } = setUp({ writeText: async (text) => void written.push(text) }, true);
  const copying = new Copying(() => undefined);
  await copying.copy(field);
  expect([written, copying.wordsFor("wh_x"), copying.wordsFor("wh_y")]).toEqual([["wh_x"], "Copied", "Copy"]);
});

test("on a page over http it copies what is selected", async () => {
  const { field, done } = setUp(undefined, true);
  const copying = new Copying(() => undefined);
  await copying.copy(field);
  expect([done, copying.wordsFor("wh_x")]).toEqual([["focus", "select", "copy"], "Copied"]);
});

test("where the browser does not let it, the text is selected, and it says no more than that", async () => {
  for (const clipboard of [undefined, { writeText: () => Promise.reject(new Error("denied")) }]) {
    const { field, done } = setUp(clipboard, false);
    const copying = new Copying(() => undefined);
    await copying.copy(field);
    expect([done.slice(0, 2), copying.wordsFor("wh_x")]).toEqual([["focus", "select"], "Selected"]);
  }
});
