import { expect, test } from "bun:test";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createPost } from "../../../src/runtime/post/node-post.ts";

test("post() sends nothing once its signal is aborted, even if the address needs no look-up", async () => {
  let requests = 0;
  const receiver = createServer(() => void requests++); // It never answers.
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const { port } = receiver.address() as AddressInfo;
  const outcome = await createPost()({
    url: new URL(`http://127.0.0.1:${port}/`),
    headers: {},
    body: "{}",
    refusalOf: () => null,
    signal: AbortSignal.abort(),
  });
  expect([outcome.kind, requests]).toEqual(["failed", 0]);
  receiver.closeAllConnections();
  receiver.close();
});
