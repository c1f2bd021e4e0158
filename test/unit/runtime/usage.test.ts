import { expect, test } from "bun:test";
import { collectGarbage } from "../../../src/runtime/usage.ts";
import { turns } from "../../support/turns.ts";

test("unreferenced objects are freed immediately", async () => {
  const objects = Array.from({ length: 100 }, () => new WeakRef({ text: "unreferenced" }));
  await turns(); // Nothing new is freed in the same turn.
  collectGarbage();
  // Some may still look as if the stack had them.
  expect(objects.filter((each) => each.deref() !== undefined).length).toBeLessThan(50);
});
