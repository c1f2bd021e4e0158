import { basename } from "node:path";
import { FormatError } from "../../formats/read/format.ts";
import { messageOf } from "../../lib/message-of.ts";
import type { Inputs, RandomInput, Spool } from "../../runtime/inputs.ts";
import { counted, piecesOf, type StoredFile } from "./source.ts";

/** What comes through a pipe once, and is read as often as wanted: all of it goes by way of the disk. */
export interface PipedFile extends StoredFile {
  /** Gives up what is on the disk. */
  close(): Promise<void>;
}

/** The signal ends all waiting for what may never come. */
export function createPipedFile(
  inputs: Inputs,
  path: string,
  spoolDirectory: string,
  signal: AbortSignal,
): PipedFile {
  let spool: Spool | null = null;
  let stream: AsyncIterator<Uint8Array> | null = null;
  /** Under way for all readings: one that was given up may still wait for more when the next begins. */
  let pulling: Promise<boolean> | null = null;
  let appending: Promise<void> = Promise.resolve();
  let isClosed = false;

  async function opened(): Promise<Spool> {
    spool ??= await inputs.openSpool(spoolDirectory);
    return spool;
  }

  /** Takes more out of the pipe; false where it has ended. */
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
      const kept = await opened();
      for (let at = 0; ; ) {
        for await (const piece of piecesOf(kept, at, kept.sizeBytes)) {
          at += piece.length;
          yield piece;
        }
        if (at === kept.sizeBytes && !(await pull(kept))) return;
      }
    } catch (cause) {
      throw new FormatError(messageOf(cause), { cause });
    }
  }

  async function openRandom(): Promise<RandomInput> {
    const kept = await opened();
    while (await pull(kept));
    return { sizeBytes: kept.sizeBytes, path: kept.path, read: kept.read, close: async () => {} };
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
      void stream?.return?.(); // Not waited for: a pipe may be silent for ever.
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
