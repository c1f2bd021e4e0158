import { basename } from "node:path";
import { FormatError } from "../../formats/read/format.ts";
import { messageOf } from "../../lib/message-of.ts";
import type { Inputs, RandomInput, Spool } from "../../runtime/inputs.ts";
import { counted, piecesOf, type StoredFile } from "./source.ts";

/** The content of a pipe, which arrives once. It is spooled to disk, so that it can be read again. */
export interface PipedFile extends StoredFile {
  /** Deletes the spooled bytes. */
  close(): Promise<void>;
}

/** The signal ends all waiting for the pipe. */
export function createPipedFile(
  inputs: Inputs,
  path: string,
  spoolDirectory: string,
  signal: AbortSignal,
): PipedFile {
  let spool: Spool | null = null;
  let stream: AsyncIterator<Uint8Array> | null = null;
  /** Shared by all reads: one that was abandoned may still wait for data when the next begins. */
  let pulling: Promise<boolean> | null = null;
  let appending: Promise<void> = Promise.resolve();
  let isClosed = false;

  async function opened(): Promise<Spool> {
    spool ??= await inputs.openSpool(spoolDirectory);
    return spool;
  }

  /** Reads more from the pipe; false at its end. */
  function pull(into: Spool): Promise<boolean> {
    pulling ??= pullNext(into).finally(() => {
      pulling = null;
    });
    return pulling;
  }

  async function pullNext(into: Spool): Promise<boolean> {
    stream ??= inputs.stream(path)[Symbol.asyncIterator]();
    const { done, value } = await unlessAborted(stream.next(), signal);
    if (done === true || isClosed) return false;
    appending = into.append(value);
    await appending;
    return true;
  }

  async function* read(): AsyncGenerator<Uint8Array> {
    try {
      const content = await opened();
      for (let at = 0; ; ) {
        for await (const piece of piecesOf(content, at, content.sizeBytes)) {
          at += piece.length;
          yield piece;
        }
        if (at === content.sizeBytes && !(await pull(content))) return;
      }
    } catch (cause) {
      throw new FormatError(messageOf(cause), { cause });
    }
  }

  async function openRandom(): Promise<RandomInput> {
    const content = await opened();
    while (await pull(content));
    return { sizeBytes: content.sizeBytes, path: content.path, read: content.read, close: async () => {} };
  }

  return {
    name: path === "-" ? "stdin" : basename(path),
    folders: [],
    key: path,
    label: path === "-" ? "standard input" : path,
    isNamed: true,
    packedBytes: null,
    pieces: (onRead) => (onRead === undefined ? read() : counted(read(), onRead)),
    identity: async () => null,
    openRandom,
    async close() {
      isClosed = true;
      void stream?.return?.(); // Not awaited: a pipe may stay silent forever.
      await appending.catch(() => undefined);
      await spool?.close();
      spool = null;
    },
  };
}

function unlessAborted<Value>(coming: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new FormatError("the import was interrupted"));
    if (signal.aborted) giveUp();
    signal.addEventListener("abort", giveUp);
    coming.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
  });
}
