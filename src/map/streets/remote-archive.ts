import type { Header, RangeResponse, Source } from "pmtiles";
import { messageOf } from "../../lib/message-of.ts";
import { Semaphore } from "../../lib/schedule/semaphore.ts";
import { systemTimers, type Timers, type Wait, wait } from "../../lib/schedule/timers.ts";
import { checkedHeader, ROOT_END } from "../tile-file.ts";

/*
 * Bytes of a PMTiles archive on a web server, by range requests. The server is not trusted: a wrong range, a wrong
 * length or a changed file ends the copy.
 */

/** The archive can't be copied. The message says why. */
export class RemoteArchiveError extends Error {
  override readonly name = "RemoteArchiveError";
}

export interface RemoteParts {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly signal: AbortSignal;
  /** Default to those of the system. */
  readonly wait?: Wait;
  readonly timers?: Timers;
}

export const REQUEST_BYTES_MAX = 4 * 1024 * 1024;

/** As many connections as a polite client opens. */
export const REQUESTS_AT_ONCE = 4;
const OWNER = "";

/** Pauses before the further attempts of a request, about a minute in total. */
const PAUSES_MS = [500, 1000, 2000, 4000, 8000, 16_000, 30_000];
/** A request that receives nothing for this long is repeated. */
const SILENCE_MS = 30_000;

/** Statuses after which the same request may succeed later. */
const PASSING = [408, 425, 429, 500, 502, 503, 504];

export class RemoteArchive implements Source {
  readonly #url: string;
  readonly #parts: RemoteParts;
  readonly #requests = new Semaphore(REQUESTS_AT_ONCE);
  #sizeBytes: number | null = null;
  #validator: string | null = null;

  private constructor(url: string, parts: RemoteParts) {
    this.#url = url;
    this.#parts = parts;
  }

  /** Opens an archive and checks its header. Rejects with a `RemoteArchiveError` or a `MapFileError`. */
  static async open(url: string, parts: RemoteParts): Promise<{ archive: RemoteArchive; header: Header }> {
    const archive = new RemoteArchive(url, parts);
    const begin = await archive.#request(0, ROOT_END);
    return { archive, header: checkedHeader(archive.getKey(), begin, archive.sizeBytes) };
  }

  /** The address without its query, which may hold a secret. */
  getKey(): string {
    const { origin, pathname } = new URL(this.#url);
    return origin + pathname;
  }

  get sizeBytes(): number {
    return this.#sizeBytes!;
  }

  /** `ETag` and `Last-Modified`; empty if the server sends neither, so a change might go unnoticed. */
  get validator(): string {
    return this.#validator!;
  }

  async getBytes(offset: number, length: number): Promise<RangeResponse> {
    const isInside = offset >= 0 && length > 0 && offset + length <= this.sizeBytes;
    if (!isInside || length > REQUEST_BYTES_MAX)
      throw this.#refusal(`it refers to ${length} bytes at ${offset}, but has ${this.sizeBytes}`);
    const bytes = await this.#requests.run(OWNER, () => this.#request(offset, offset + length));
    return { data: bytes.buffer };
  }

  /** The bytes from `start` to `end` (excluded). The first request may end at the end of a smaller file. */
  async #request(start: number, end: number): Promise<Uint8Array<ArrayBuffer>> {
    const { signal, wait: pause = wait } = this.#parts;
    for (let attempt = 0; ; attempt++) {
      signal.throwIfAborted();
      try {
        return await this.#attempt(start, end);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof RemoteArchiveError) throw error;
        const pauseMs = PAUSES_MS[attempt];
        if (pauseMs === undefined)
          throw this.#refusal(`${messageOf(error)}, ${attempt + 1} times in a row; try again later`);
        await pause(pauseMs, signal);
      }
    }
  }

  /** Throws a `RemoteArchiveError` if a repetition would be of no use, and any other error if it may help. */
  async #attempt(start: number, end: number): Promise<Uint8Array<ArrayBuffer>> {
    const { fetch, signal, timers = systemTimers } = this.#parts;
    const silence = new AbortController();
    const fallSilent = () => silence.abort(new Error(`no byte came for ${SILENCE_MS / 1000} s`));
    let cancel = timers.after(SILENCE_MS, fallSilent);
    try {
      const response = await fetch(this.#url, {
        headers: { range: `bytes=${start}-${end - 1}`, "accept-encoding": "identity" },
        signal: AbortSignal.any([signal, silence.signal]),
      });
      let length: number;
      try {
        length = this.#checkedLength(response, start, end);
      } catch (error) {
        await response.body?.cancel().catch(() => undefined);
        throw error;
      }
      const bytes = new Uint8Array(length);
      let filled = 0;
      for await (const piece of response.body ?? []) {
        cancel();
        cancel = timers.after(SILENCE_MS, fallSilent);
        if (filled + piece.length > length)
          throw this.#refusal(`the server sent more than the ${length} bytes of a range`);
        bytes.set(piece, filled);
        filled += piece.length;
      }
      if (filled < length) throw new Error(`an answer ended after ${filled} of ${length} bytes`);
      return bytes;
    } finally {
      cancel();
    }
  }

  /** Checks the answer's headers; returns how many bytes it must have. */
  #checkedLength({ status, headers }: Response, start: number, end: number): number {
    if (PASSING.includes(status)) throw new Error(`the server answered ${status}`);
    if (status === 200)
      throw this.#refusal(
        "the server ignores ranges: it answered 200 with the whole file instead of 206; use another server",
      );
    if (status !== 206) throw this.#refusal(`the server answered ${status} instead of 206`);
    const encoding = headers.get("content-encoding") ?? "identity";
    if (encoding !== "identity") throw this.#refusal(`the server compressed a range (${encoding})`);
    const range = headers.get("content-range");
    const [, first, last, total] = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(range ?? "") ?? [];
    const sizeBytes = Number(total);
    const expectedEnd = this.#sizeBytes === null ? Math.min(end, sizeBytes) : end;
    if (total === undefined || Number(first) !== start || Number(last) !== expectedEnd - 1)
      throw this.#refusal(
        `the server sent the wrong range: asked for bytes ${start}-${end - 1}, it answered ` +
          (range === null ? "without Content-Range" : `Content-Range "${range}"`),
      );
    const validator = `${headers.get("etag") ?? ""} ${headers.get("last-modified") ?? ""}`.trim();
    this.#sizeBytes ??= sizeBytes;
    this.#validator ??= validator;
    if (this.#sizeBytes !== sizeBytes || this.#validator !== validator)
      throw this.#refusal("it changed while it was copied; run the command again");
    return expectedEnd - start;
  }

  #refusal(fault: string): RemoteArchiveError {
    return new RemoteArchiveError(`Cannot copy from ${this.getKey()}: ${fault}.`);
  }
}
