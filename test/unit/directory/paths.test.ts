import { expect, test } from "bun:test";
import { readDirectoryId } from "../../../src/directory/paths.ts";
import { createSimulatedFiles } from "../../support/disk/simulated-files.ts";

const PATH = "/data/directory-id";

test("readDirectoryId() makes an id that outlasts a power failure, and gives the same one from then on", async () => {
  const files = createSimulatedFiles();
  await files.makeDirectory("/data");
  const id = await readDirectoryId(files, PATH);
  expect(id).toMatch(/^[0-9a-f]{16}$/);
  expect(await readDirectoryId(files.crash(), PATH)).toBe(id);
});

test("readDirectoryId() makes another where the file holds none", async () => {
  const files = createSimulatedFiles();
  await files.makeDirectory("/data");
  await files.replace(PATH, new TextEncoder().encode("../../etc\n"));
  const id = await readDirectoryId(files, PATH);
  expect(id).toMatch(/^[0-9a-f]{16}$/);
  expect(await readDirectoryId(files, PATH)).toBe(id);
});
