import { expect, test } from "bun:test";
import {
  ForeignDirectoryError,
  findServingUrl,
  noteServing,
  refuseForeign,
} from "../../../src/directory/take-directory.ts";
import { createSimulatedFiles } from "../../support/disk/simulated-files.ts";

const URL = "http://127.0.0.1:4800";

async function directory() {
  const files = createSimulatedFiles();
  await files.makeDirectory("data");
  const urlOf = (pid: number, sinceMs: number) =>
    findServingUrl(files, "data", { pid, sinceMs, command: "serve" });
  return { files, urlOf };
}

test("findServingUrl() finds what the holder of the lock has noted, and nothing that another process has left", async () => {
  const { files, urlOf } = await directory();
  expect(await urlOf(7, 100)).toBeNull();
  await noteServing(files, "data", { pid: 7, atMs: 150, url: URL });
  expect(await urlOf(7, 100)).toBe(URL);
  expect(await urlOf(8, 100)).toBeNull();
  expect(await urlOf(7, 151)).toBeNull(); // In a container every server is process 1.
});

test("findServingUrl() is null for a file that says nothing", async () => {
  const { files, urlOf } = await directory();
  for (const text of ["", "{", "[]", "null", '{"pid":7,"atMs":150}', '{"pid":7,"url":"http://x"}']) {
    await files.replace("data/serving.json", new TextEncoder().encode(text));
    expect(await urlOf(7, 100)).toBeNull();
  }
});

async function refusal(...paths: string[]): Promise<unknown> {
  const files = createSimulatedFiles();
  await files.makeDirectory("data");
  for (const path of paths) {
    const folders = path.split("/").slice(0, -1);
    if (folders.length > 0) await files.makeDirectory(`data/${folders.join("/")}`);
    await files.replace(`data/${path}`, new Uint8Array([1]));
  }
  return refuseForeign(files, "data").catch((error: unknown) => error);
}

test("refuseForeign() takes what is empty, not there, or has nothing but what a data directory has", async () => {
  expect(await refuseForeign(createSimulatedFiles(), "data")).toBeUndefined();
  expect(await refusal()).toBeUndefined();
  expect(await refusal("lost+found/x", ".DS_Store")).toBeUndefined();
  expect(await refusal("lock", "serving.json", "settings.json.lock", "settings.json.7.tmp")).toBeUndefined();
  expect(await refusal("wal/0000000000000001.log", "first-key", "imports/1")).toBeUndefined();
});

test("refuseForeign() takes a data directory or a backup with other files in it", async () => {
  for (const mark of ["keys.json", "directory-id", "cluster.json", "archive/manifest.json", "backup.json"])
    expect(await refusal(mark, "notes.txt")).toBeUndefined();
});

test("refuseForeign() refuses a folder of something else, and names what it found", async () => {
  for (const found of ["main.ts", ".bashrc", "archives", "lockfile"]) {
    const error = await refusal(found, "archive/x.ts", "wal/y.ts");
    expect(error).toBeInstanceOf(ForeignDirectoryError);
    expect(String(error)).toContain(`"data" is no data directory: it holds other files, such as "${found}".`);
  }
});
