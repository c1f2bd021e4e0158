import { expect, test } from "bun:test";
import { Retries } from "../../../../src/web/api/retries.ts";
import { FileImport } from "../../../../src/web/import/file-import.ts";

/** An import whose dialog is never loaded. */
function setUp(refusal: string | null = null) {
  let draws = 0;
  const files = new FileImport({
    api: { fetch: () => new Promise(() => undefined), retries: new Retries() },
    table: { size: 0, ids: [], labels: [], rowOf: () => undefined, labelOf: (id) => id },
    chosen: { id: null, choose: () => undefined, look: () => undefined },
    zones: { zone: "UTC" },
    map: { setPreview: () => undefined, fit: () => undefined },
    settings: { units: "metric" },
    refusal: () => refusal,
    onImported: () => undefined,
    changed: () => draws++,
  });
  return { files, draws: () => draws };
}

function dragOf(types: readonly string[]) {
  const drag = {
    isPrevented: false,
    dataTransfer: { types, dropEffect: "none", files: [], items: [] } as unknown as DataTransfer,
    preventDefault: () => {
      drag.isPrevented = true;
    },
  };
  return drag;
}

test("FileImport shows the place to drop files while they are over the page", () => {
  const { files, draws } = setUp();
  const drag = dragOf(["Files"]);
  files.over(drag);
  files.over(drag);
  expect([files.isOver, drag.isPrevented, draws()]).toEqual([true, true, 1]);
  expect(drag.dataTransfer.dropEffect).toBe("copy");
  files.leave({ ...drag, relatedTarget: {} as EventTarget }); // Only into another element.
  expect(files.isOver).toBe(true);
  files.leave({ ...drag, relatedTarget: null });
  expect(files.isOver).toBe(false);
});

test("FileImport leaves texts and links to the browser", () => {
  const { files } = setUp();
  const drag = dragOf(["text/plain"]);
  files.over(drag);
  files.drop(drag);
  expect([files.isOver, drag.isPrevented]).toEqual([false, false]);
});

test("FileImport keeps the browser from opening a file that the key may not import", () => {
  const { files } = setUp("Importing needs a key with the permission write.");
  const drag = dragOf(["Files"]);
  files.over(drag);
  expect(drag.dataTransfer.dropEffect).toBe("none");
  expect(files.isOver).toBe(true);
  const drop = dragOf(["Files"]);
  files.drop(drop);
  expect([drop.isPrevented, files.isOver]).toEqual([true, false]);
});
