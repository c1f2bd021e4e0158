import { expect, test } from "bun:test";
import { clientIdOf, readDirectoryId } from "../../src/mqtt/client-id.ts";
import { createSimulatedFiles } from "../support/disk/simulated-files.ts";

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

test("clientIdOf() differs by directory and by filter", () => {
  const ids = [
    clientIdOf("0123456789abcdef", "owntracks/+/+"),
    clientIdOf("0123456789abcdef", "other/+/+"),
    clientIdOf("fedcba9876543210", "owntracks/+/+"),
  ];
  expect(new Set(ids).size).toBe(3);
  for (const id of ids) expect(id).toMatch(/^wherehouse-[0-9a-f]{16}-[0-9a-f]{8}$/);
});
