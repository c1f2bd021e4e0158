import { expect, test } from "bun:test";
import { clientIdOf, readClusterName, readDirectoryId } from "../../src/mqtt/client-id.ts";
import { createSimulatedFiles } from "../support/disk/simulated-files.ts";
import { SimulatedBucket } from "../support/stream/simulated-bucket.ts";

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

test("readClusterName() is the stream's, but of a directory that had a session before it was a node's", async () => {
  const bucket = new SimulatedBucket();
  expect(await readClusterName(bucket, "fleet")).toBe("fleet");
  await bucket.put("directory-id", new TextEncoder().encode("0123456789abcdef\n"));
  expect(await readClusterName(bucket, "fleet")).toBe("0123456789abcdef");
  await bucket.put("directory-id", new TextEncoder().encode("../../etc\n"));
  expect(await readClusterName(bucket, "fleet")).toBe("fleet");
});
