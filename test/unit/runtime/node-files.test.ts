import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileError, isDiskFull } from "../../../src/runtime/files.ts";
import { adviceFor } from "../../../src/runtime/node-error.ts";
import { createNodeFiles } from "../../../src/runtime/node-files.ts";

const files = createNodeFiles();
let root = "";

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "wherehouse-files-"));
});
afterAll(() => rm(root, { recursive: true }));

const text = (content: string) => new TextEncoder().encode(content);

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

/** The code of the FileError that it must throw. */
async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof FileError)) throw new Error(`no FileError, but ${error}`);
  return error.code;
}

test("append() writes all parts in order, however many and however large", async () => {
  const path = join(root, "parts");
  const file = await files.openAppend(path);
  const parts = Array.from({ length: 3000 }, (_, i) => new Uint8Array(i % 7 === 0 ? 0 : i % 50).fill(i));
  parts.push(new Uint8Array(3_000_000).fill(9));
  await file.append(parts);
  await file.append([]);
  await file.append([new Uint8Array()]);
  await file.sync();
  await file.close();
  expect(Buffer.from(await files.read(path)).equals(Buffer.concat(parts))).toBe(true);
  expect(await files.size(path)).toBe(Buffer.concat(parts).length);
});

test("readRange() gives what lies between two places, as far as the file reaches", async () => {
  const path = join(root, "range");
  await files.replace(path, text("0123456789"));
  const range = async (start: number, end: number) =>
    Buffer.from(await files.readRange(path, start, end)).toString();
  expect(await range(0, 3)).toBe("012");
  expect(await range(7, 20)).toBe("789");
  expect(await range(20, 30)).toBe("");
  expect(await codeOf(files.readRange(join(root, "none"), 0, 1))).toBe("ENOENT");
});

test("truncate() cuts the file, and append() continues at the new end", async () => {
  const path = join(root, "cut");
  const file = await files.openAppend(path);
  await file.append([text("0123456789")]);
  await file.truncate(4);
  await file.append([text("x")]);
  await file.close();
  const again = await files.openAppend(path);
  await again.append([text("y")]);
  await again.close();
  expect(Buffer.from(await files.read(path)).toString()).toBe("0123xy");
});

test("overwrite() leaves a file as it is, in its place, and makes none", async () => {
  const path = join(root, "over");
  await files.replace(path, text("0123456789"));
  const { ino } = await stat(path);
  await files.overwrite(path, await files.read(path));
  expect(Buffer.from(await files.read(path)).toString()).toBe("0123456789");
  expect((await stat(path)).ino).toBe(ino);
  const none = join(root, "no such file");
  expect(await codeOf(files.overwrite(none, text("x")))).toBe("ENOENT");
  expect(await files.exists(none)).toBe(false);
});

test("everything is made for its owner alone", async () => {
  const deep = join(root, "a", "b", "c");
  await files.makeDirectory(deep);
  await files.makeDirectory(deep);
  await (await files.openAppend(join(deep, "log"))).close();
  await files.replace(join(deep, "whole"), text("x"));
  expect(await Promise.all([modeOf(join(root, "a")), modeOf(deep)])).toEqual(["700", "700"]);
  expect(await Promise.all([modeOf(join(deep, "log")), modeOf(join(deep, "whole"))])).toEqual(["600", "600"]);
});

test("replace() puts the new file in place and leaves no other", async () => {
  const directory = join(root, "replaced");
  await files.makeDirectory(directory);
  const path = join(directory, "file");
  await files.replace(path, text("long before"));
  await files.replace(path, text("after"));
  expect(Buffer.from(await files.read(path)).toString()).toBe("after");
  expect(await codeOf(files.replace(directory, text("x")))).toMatch(/EISDIR|ENOTEMPTY/);
  expect(await files.list(directory)).toEqual(["file"]);
  expect(await files.list(root)).not.toContainEqual(expect.stringContaining(".tmp"));
});

test("replace() keeps the mode that the file has been given", async () => {
  const path = join(root, "shared");
  await files.replace(path, text("before"));
  await chmod(path, 0o640);
  await files.replace(path, text("after"));
  expect(await modeOf(path)).toBe("640");
});

test("list() is sorted, and empty for a missing directory", async () => {
  const directory = join(root, "listed");
  await files.makeDirectory(directory);
  for (const name of ["b", "a", "c"]) await files.replace(join(directory, name), text(name));
  await files.rename(join(directory, "c"), join(directory, "0"));
  await files.remove(join(directory, "b"));
  await files.syncDirectory(directory);
  expect(await files.list(directory)).toEqual(["0", "a"]);
  expect(await files.list(join(directory, "none"))).toEqual([]);
  expect(await files.exists(join(directory, "a"))).toBe(true);
  expect(await files.exists(join(directory, "b"))).toBe(false);
});

test("failures carry the system's code", async () => {
  const none = join(root, "none");
  const file = join(root, "a-file");
  await files.replace(file, text("x"));
  expect(await codeOf(files.read(none))).toBe("ENOENT");
  expect(await codeOf(files.size(none))).toBe("ENOENT");
  expect(await codeOf(files.remove(none))).toBe("ENOENT");
  expect(await codeOf(files.rename(none, file))).toBe("ENOENT");
  expect(await codeOf(files.syncDirectory(none))).toBe("ENOENT");
  expect(await codeOf(files.openAppend(join(none, "x")))).toBe("ENOENT");
  expect(await codeOf(files.replace(join(none, "x"), text("x")))).toBe("ENOENT");
  expect(await codeOf(files.list(file))).toBe("ENOTDIR");
  expect(await codeOf(files.makeDirectory(file))).toBe("ENOTDIR");
});

test.skipIf(process.platform !== "linux")("a full disk is distinguished from other failures", async () => {
  const full = await files.openAppend("/dev/full");
  const error = await full.append([text("x")]).catch((thrown: unknown) => thrown);
  await full.close();
  expect(isDiskFull(error)).toBe(true);
});

test("link() gives a file a second name, and never takes one", async () => {
  const [from, to] = [join(root, "linked"), join(root, "link")];
  await files.replace(from, text("one"));
  await files.link(from, to);
  expect((await stat(to)).ino).toBe((await stat(from)).ino);
  expect(await codeOf(files.link(from, to))).toBe("EEXIST");
  expect(await codeOf(files.link(join(root, "none"), join(root, "other")))).toBe("ENOENT");
  await files.replace(from, text("two"));
  expect(Buffer.from(await files.read(to)).toString()).toBe("one");
});

test("removeAll() takes a directory with all in it, and what is missing for removed", async () => {
  const directory = join(root, "whole");
  await files.makeDirectory(join(directory, "inner"));
  await files.replace(join(directory, "inner", "file"), text("x"));
  for (let time = 0; time < 2; time++) await files.removeAll(directory);
  expect(await files.exists(directory)).toBe(false);
});

test("rename() puts a directory in the place of an empty one, and of no other", async () => {
  const [from, to] = [join(root, "made"), join(root, "place")];
  await files.makeDirectory(from);
  await files.replace(join(from, "file"), text("x"));
  await files.makeDirectory(to);
  await files.rename(from, to);
  expect(await files.list(to)).toEqual(["file"]);
  await files.makeDirectory(from);
  expect(await codeOf(files.rename(from, to))).toBe("ENOTEMPTY");
});

test("adviceFor() says whose command may use a path, in words that work", () => {
  expect(adviceFor("/d", 998)).toBe(
    `"/d" belongs to user 998: run this as that user (sudo -u '#998' COMMAND) or as root`,
  );
  expect(adviceFor("/d", 0)).toBe('"/d" belongs to root: run this as root (sudo COMMAND)');
});
