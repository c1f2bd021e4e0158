import { expect, test } from "bun:test";
import { findServingUrl, noteServing } from "../../../src/directory/serving.ts";
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
