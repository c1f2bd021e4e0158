import { expect, test } from "bun:test";
import { ApiError } from "../../../../src/web/api/api-error.ts";
import { DraftEditor } from "../../../../src/web/items/draft-editor.ts";
import { draftFault } from "../../../../src/web/items/draft-fault.ts";
import { turns } from "../../../support/turns.ts";
import { fenceServer } from "../fences/fence-server.ts";

interface NamedDraft {
  readonly id: string | null;
  readonly names: readonly string[];
}

function setUp() {
  const server = fenceServer();
  const done: unknown[] = [];
  const editor = new DraftEditor<NamedDraft, { readonly id: string }>({
    ...{ api: server.api, path: "/items", changed: () => undefined },
    bodyOf: ({ names }) => (names.length === 0 ? null : { names }),
    faultOf: (message) => draftFault(message, ["names"]),
    onSaved: ({ id }) => done.push(["saved", id]),
    onDeleted: (id) => done.push(["deleted", id]),
    onClosed: () => done.push("closed"),
  });
  return { ...server, editor, done };
}

test("changes that build on the draft add up, also between two drawings of the form", () => {
  const { editor } = setUp();
  editor.open({ id: null, names: [] });
  for (const name of ["a", "b"]) editor.set(({ names }) => ({ names: [...names, name] }), "names");
  expect(editor.draft!.names).toEqual(["a", "b"]);
});

test("a draft has one request at a time, and none before it is complete", async () => {
  const { editor, asked, done } = setUp();
  editor.open({ id: null, names: [] });
  void editor.save();
  expect(asked).toHaveLength(0);
  editor.set({ names: ["a"] }, "names");
  void editor.save();
  void editor.save();
  expect([asked.length, editor.isSaving]).toEqual([1, true]);
  asked[0]!.answer({ id: "1" });
  await turns();
  expect([done, editor.draft]).toEqual([["closed", ["saved", "1"]], null]);
});

test("a fault shows until its member is changed; a fault of a closed draft does not show", async () => {
  const { editor, asked, done } = setUp();
  editor.open({ id: "1", names: ["a"] });
  void editor.save();
  asked[0]!.fail(new ApiError(400, "names[0] must be longer", { isOurs: true }));
  await turns();
  expect(editor.fault).toEqual({ member: "names", text: "names[0] must be longer." });
  editor.set({}, "other");
  expect(editor.fault).not.toBeNull();
  editor.set({ names: ["b"] }, "names");
  expect(editor.fault).toBeNull();
  void editor.delete();
  editor.close();
  editor.open({ id: "2", names: [] });
  asked[1]!.fail(new ApiError(500, "it broke"));
  await turns();
  expect([editor.fault, editor.isSaving, done]).toEqual([null, false, ["closed"]]);
});
