import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FileOutput } from "../../../../src/cli/export/file-output.ts";
import { FileError, type Files } from "../../../../src/runtime/files.ts";
import { createNodeFiles } from "../../../../src/runtime/node-files.ts";
import { outcome, rejection } from "../../../support/rejection.ts";
import { withDirectory } from "../support/run-cli.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

async function* pieces(...texts: (string | Error)[]) {
  for (const text of texts) {
    if (text instanceof Error) throw text;
    yield bytes(text);
  }
}

const draftOf = (name: string, pid: number) =>
  `.wherehouse-export-${pid}-${createHash("sha256").update(name).digest("hex").slice(0, 8)}.partial`;

/** A disk without room for any write. */
function fullDisk(files: Files): Files {
  return {
    ...files,
    openAppend: async (path) => ({
      ...(await files.openAppend(path)),
      append: () => Promise.reject(new FileError("write", path, "ENOSPC")),
    }),
  };
}

test("a file is there once it is whole, and takes the place of another", () =>
  withDirectory(async (root) => {
    const path = join(root, "out");
    const output = new FileOutput(createNodeFiles(), path, 7);
    const seen: string[][] = [];
    async function* watched() {
      for await (const piece of pieces("a", "b")) {
        yield piece;
        seen.push(readdirSync(root));
      }
    }
    await output.write(watched(), () => true);
    expect(seen).toEqual([[draftOf("out", 7)], [draftOf("out", 7)]]);
    expect(readFileSync(path, "utf8")).toBe("ab");
    await output.write(pieces("c"), () => true);
    expect(readFileSync(path, "utf8")).toBe("c");
    expect(readdirSync(root)).toEqual(["out"]);
  }));

test("what breaks off, doesn't fit the disk or isn't wanted leaves nothing, and what was there before", () =>
  withDirectory(async (root) => {
    const path = join(root, "out");
    writeFileSync(path, "before");
    const files = createNodeFiles();
    const failure = new Error("of the test");
    expect(await rejection(new FileOutput(files, path, 1).write(pieces("a", failure), () => true))).toBe(
      failure,
    );
    const full = new FileOutput(fullDisk(files), path, 1).write(pieces("a"), () => true);
    expect(await outcome(full)).toThrow("ENOSPC");
    await new FileOutput(files, path, 1).write(pieces("a"), () => false);
    expect(readFileSync(path, "utf8")).toBe("before");
    expect(readdirSync(root)).toEqual(["out"]);
  }));

test("what a killed process has left is no part of the next file", () =>
  withDirectory(async (root) => {
    writeFileSync(join(root, draftOf("out", 1)), "of before");
    await new FileOutput(createNodeFiles(), join(root, "out"), 1).write(pieces("a"), () => true);
    expect(readFileSync(join(root, "out"), "utf8")).toBe("a");
    expect(readdirSync(root)).toEqual(["out"]);
  }));

test("processes of two containers, which have the same number, write two files beside each other", () =>
  withDirectory(async (root) => {
    const files = createNodeFiles();
    async function* withAnother() {
      yield bytes("a");
      await new FileOutput(files, join(root, "b"), 1).write(pieces("b"), () => true);
      yield bytes("a");
    }
    await new FileOutput(files, join(root, "a"), 1).write(withAnother(), () => true);
    expect(readFileSync(join(root, "a"), "utf8")).toBe("aa");
    expect(readFileSync(join(root, "b"), "utf8")).toBe("b");
  }));
