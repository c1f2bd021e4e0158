import { describe, expect, test } from "bun:test";
import { moveDurably } from "../../../src/runtime/files.ts";
import { createSimulatedFiles } from "../../support/disk/simulated-files.ts";
import { rejection } from "../../support/rejection.ts";

/** Goal: after a failed sync of a directory, what the caller is told is what a power failure leaves. */

const text = (value: string) => new TextEncoder().encode(value);
const at = (files: ReturnType<typeof createSimulatedFiles>, path: string) => {
  const bytes = files.contents().get(path);
  return bytes === undefined ? null : new TextDecoder().decode(bytes);
};

describe("replace()", () => {
  test("makes the change anew where one sync fails: it then lasts", async () => {
    const files = createSimulatedFiles(new Map([["/d/file", text("former")]]));
    files.failNext("syncDirectory", "EIO");
    await files.replace("/d/file", text("new"));
    expect(at(files.crash(), "/d/file")).toBe("new");
  });

  test("fails where the second does too: the new file is in place, and a power failure brings the former back", async () => {
    const files = createSimulatedFiles(new Map([["/d/file", text("former")]]));
    for (let time = 0; time < 2; time++) files.failNext("syncDirectory", "EMFILE");
    expect(await rejection(files.replace("/d/file", text("new")))).toMatchObject({ code: "EMFILE" });
    expect(at(files, "/d/file")).toBe("new");
    expect(at(files.crash(), "/d/file")).toBe("former");
  });
});

describe("moveDurably()", () => {
  const moving = () => createSimulatedFiles(new Map([["/from/file", text("it")]]));

  test("lasts, also where one sync of either directory fails", async () => {
    for (const failing of [null, "/to", "/from"]) {
      const files = moving();
      let failures = 0;
      files.beforeOperation = (operation, path) => {
        if (operation === "syncDirectory" && path === failing && failures++ === 0)
          files.failNext("syncDirectory", "EIO");
      };
      await moveDurably(files, "/from/file", "/to/file");
      const found = files.crash();
      expect([failing, at(found, "/from/file"), at(found, "/to/file")]).toEqual([failing, null, "it"]);
    }
  });

  test("fails where a sync fails twice, and can be repeated after a power failure", async () => {
    const files = moving();
    for (let time = 0; time < 2; time++) files.failNext("syncDirectory", "EIO");
    expect(await rejection(moveDurably(files, "/from/file", "/to/file"))).toMatchObject({ code: "EIO" });
    const found = files.crash();
    expect(at(found, "/from/file")).toBe("it");
    await moveDurably(found, "/from/file", "/to/file");
    expect(at(found.crash(), "/to/file")).toBe("it");
  });
});
