import { expect, test } from "bun:test";
import { clientIdOf, readClusterName } from "../../../../src/service/mqtt/client-id.ts";
import { SimulatedBucket } from "../../../support/stream/simulated-bucket.ts";

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
