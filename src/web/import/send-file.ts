import { type Api, pathWith, type Query } from "../api/api.ts";
import type { QueuedFile } from "./chosen-files.ts";
import { BEGINNING_BYTES, planFile } from "./file-plan.ts";

/* Sends a file to the server, with progress, which `fetch` does not report. */

/** A body for `POST /api/v1/imports`. */
export interface PackedFile {
  readonly body: Blob;
  readonly encoding: "gzip" | "zstd" | null;
}

/** Shorter files are not worth it. */
const PACKED_BYTES_MIN = 64 * 1024;

/** Sending 16 MiB over a bad line takes minutes; after that the server starts a process and reads. */
const ANSWER_MS_MAX = 15 * 60_000;

/** Packs a file for its way through a slow network: GPX and KML shrink to a tenth. */
export async function packFile(
  file: Blob,
  encoding: PackedFile["encoding"],
  signal: AbortSignal,
): Promise<PackedFile> {
  signal.throwIfAborted();
  if (encoding !== null || file.size < PACKED_BYTES_MIN) return { body: file, encoding };
  const stream = file.stream().pipeThrough(new CompressionStream("gzip"), { signal });
  return { body: await new Response(stream).blob(), encoding: "gzip" };
}

interface SendOptions {
  readonly signal: AbortSignal;
  /** The share of the bytes that are sent, from 0 to 1. */
  readonly onProgress: (share: number) => void;
}

/** Resolves with the answer's body; throws an `ApiError`, or an `AbortError` if the signal is aborted. */
export async function sendFile<Body>(
  api: Pick<Api, "fetch">,
  { body, encoding }: PackedFile,
  query: Query,
  { signal, onProgress }: SendOptions,
): Promise<Body> {
  const headers = {
    "content-type": "application/octet-stream",
    ...(encoding === null ? {} : { "content-encoding": encoding }),
  };
  const init = { method: "POST", headers, body, signal };
  const send = (path: string, sent: RequestInit) => sendByXhr(path, sent, onProgress);
  const response = await api.fetch(pathWith("/api/v1/imports", query), init, {
    send,
    answerMsMax: ANSWER_MS_MAX,
  });
  return (await response.json()) as Body;
}

/** Like `fetch`, as far as `Api` uses it. */
function sendByXhr(
  path: string,
  { method = "POST", headers = {}, body, signal }: RequestInit,
  onProgress: (share: number) => void,
): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const xhr = new XMLHttpRequest();
  const abort = () => xhr.abort();
  xhr.open(method, path);
  xhr.responseType = "blob";
  for (const [name, value] of new Headers(headers)) xhr.setRequestHeader(name, value);
  xhr.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total);
  xhr.upload.onload = () => onProgress(1);
  xhr.onload = () =>
    resolve(new Response(xhr.response as Blob, { status: xhr.status, headers: headersOf(xhr) }));
  xhr.onerror = () => reject(new TypeError("The request failed"));
  xhr.onabort = () => reject(new DOMException("The request was given up", "AbortError"));
  xhr.onloadend = () => signal?.removeEventListener("abort", abort);
  signal?.addEventListener("abort", abort);
  if (signal?.aborted) reject(new DOMException("The request was given up", "AbortError"));
  else xhr.send(body as Blob);
  return promise;
}

function headersOf(xhr: XMLHttpRequest): Headers {
  const headers = new Headers();
  for (const line of xhr.getAllResponseHeaders().trim().split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return headers;
}

/** The open file. What is prepared of it belongs to it, so that no other file is sent in its place. */
export interface OpenFile {
  readonly file: QueuedFile;
  /** Resolves once the file is packed; never rejects. */
  readonly preparation: Promise<Preparation>;
  /** Stops the packing. */
  readonly controller: AbortController;
}

/** How a file is prepared: packed, or left to the import command. */
export type Preparation =
  | { readonly kind: "send"; readonly packed: PackedFile }
  | { readonly kind: "command"; readonly reason: string };

/** Begins to prepare a file. */
export function openFile(file: QueuedFile): OpenFile {
  const controller = new AbortController();
  return { file, preparation: prepare(file, controller.signal), controller };
}

async function prepare(file: QueuedFile, signal: AbortSignal): Promise<Preparation> {
  try {
    const plan = planFile(file, await beginningOf(file));
    if (plan.kind === "command") return plan;
    return { kind: "send", packed: await packFile(file.content, plan.encoding, signal) };
  } catch {
    return { kind: "command", reason: "The browser can't read it." };
  }
}

async function beginningOf({ content, isFolder }: QueuedFile): Promise<Uint8Array> {
  if (isFolder) return new Uint8Array();
  return new Uint8Array(await content.slice(0, BEGINNING_BYTES).arrayBuffer());
}
