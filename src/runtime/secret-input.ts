import process from "node:process";

export interface SecretStream {
  readonly isTTY?: boolean;
  setRawMode?(isRaw: boolean): unknown;
  on(event: "data", listener: (piece: Uint8Array) => void): unknown;
  on(event: "end", listener: () => void): unknown;
  off(event: "data", listener: (piece: Uint8Array) => void): unknown;
  off(event: "end", listener: () => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

/** Longer than any secret. */
const LINE_BYTES_MAX = 4096;

const LINE_ENDS = [0x0a, 0x0d];
const CTRL_C = 0x03;
const CTRL_D = 0x04;
const ERASE = [0x08, 0x7f];

/**
 * The first line of standard input, without its line end. On a terminal the input is not shown; `ask` is called before
 * and `end` after it. Null if the input is interrupted or is not UTF-8.
 */
export async function readSecretLine(
  ask: () => void,
  end: () => void,
  stream: SecretStream = process.stdin,
): Promise<string | null> {
  const isTyped = stream.isTTY === true;
  if (!isTyped) return decode(await readLine(stream, takePiped));
  ask();
  stream.setRawMode?.(true);
  try {
    return decode(await readLine(stream, takeTyped));
  } finally {
    stream.setRawMode?.(false);
    end();
  }
}

/** A line that a person types on a terminal, which shows it; null without a terminal. `ask` is called before. */
export async function readTypedLine(
  ask: () => void,
  stream: SecretStream = process.stdin,
): Promise<string | null> {
  if (stream.isTTY !== true) return null;
  ask();
  return decode(await readLine(stream, takePiped));
}

/** Adds a byte to the line. */
type Take = (line: number[], byte: number) => "more" | "done" | "interrupted";

function takePiped(line: number[], byte: number): ReturnType<Take> {
  if (LINE_ENDS.includes(byte) || line.length >= LINE_BYTES_MAX) return "done";
  line.push(byte);
  return "more";
}

function takeTyped(line: number[], byte: number): ReturnType<Take> {
  if (byte === CTRL_C) return "interrupted";
  if (byte === CTRL_D) return "done";
  if (!ERASE.includes(byte)) return takePiped(line, byte);
  // Removes all UTF-8 bytes of the last character.
  while (line.length > 0 && (line.pop()! & 0xc0) === 0x80);
  return "more";
}

function readLine(stream: SecretStream, take: Take): Promise<Uint8Array | null> {
  return new Promise((resolve) => {
    const line: number[] = [];

    function finish(bytes: Uint8Array | null): void {
      stream.off("data", onData);
      stream.off("end", onEnd);
      stream.pause(); // Otherwise the process would not end.
      resolve(bytes);
    }

    function onData(piece: Uint8Array): void {
      for (const byte of piece) {
        const state = take(line, byte);
        if (state === "more") continue;
        finish(state === "done" ? Uint8Array.from(line) : null);
        return;
      }
    }

    function onEnd(): void {
      finish(Uint8Array.from(line));
    }

    stream.on("data", onData);
    stream.on("end", onEnd);
    stream.resume();
  });
}

function decode(bytes: Uint8Array | null): string | null {
  if (bytes === null) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
