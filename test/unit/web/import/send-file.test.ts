import { expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import type { Sending } from "../../../../src/web/api/api.ts";
import { Api } from "../../../../src/web/api/api.ts";
import { packFile, sendFile } from "../../../../src/web/import/send-file.ts";
import { rejection } from "../../../support/rejection.ts";

test("packFile() packs long files alone, and none twice", async () => {
  const { signal } = new AbortController();
  const short = new Blob(["<gpx/>"]);
  expect(await packFile(short, null, signal)).toEqual({ body: short, encoding: null });
  expect(await packFile(short, "zstd", signal)).toEqual({ body: short, encoding: "zstd" });
  const text = "<trkpt/>".repeat(20_000);
  const { body, encoding } = await packFile(new Blob([text]), null, signal);
  expect([encoding, body.size < 2000]).toEqual(["gzip", true]);
  expect(gunzipSync(new Uint8Array(await body.arrayBuffer())).toString()).toBe(text);
});

test("packFile() stops reading once its signal is aborted", async () => {
  const { promise: isCancelled, resolve } = Promise.withResolvers<void>();
  const endless = new ReadableStream({ cancel: () => resolve() });
  const file = Object.assign(new Blob(["x".repeat(100_000)]), { stream: () => endless });
  const stopping = new AbortController();
  const packing = packFile(file, null, stopping.signal);
  stopping.abort();
  expect(await rejection(packing)).toMatchObject({ name: "AbortError" });
  await isCancelled;
});

test("sendFile() sends the file with its encoding, and leaves out what is not chosen", async () => {
  const api = new Api();
  const requests: [string, RequestInit, Sending?][] = [];
  api.fetch = async (...request) => {
    requests.push(request as [string, RequestInit, Sending?]);
    return Response.json({ usable: 1 });
  };
  const body = new Blob(["x"]);
  const { signal } = new AbortController();
  const query = { device_id: "a b", timezone: null, dry_run: true };
  const answer = await sendFile(api, { body, encoding: "gzip" }, query, {
    signal,
    onProgress: () => undefined,
  });
  expect(answer).toEqual({ usable: 1 });
  const [[path, init, sending]] = requests as [[string, RequestInit, Sending]];
  expect(path).toBe("/api/v1/imports?device_id=a+b&dry_run=true");
  expect(init).toMatchObject({
    ...{ method: "POST", body, signal },
    headers: { "content-type": "application/octet-stream", "content-encoding": "gzip" },
  });
  expect(sending.answerMsMax).toBeGreaterThan(60_000);
});
