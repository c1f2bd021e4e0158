import process from "node:process";
import { printable } from "../lib/text/printable.ts";
import { describeCode } from "./files.ts";

/** Standard output and error, and whether a person watches them. */
export interface Terminal {
  /** Results: what a pipe should carry. */
  out(text: string): void;
  /** The same of a file that goes to a pipe; resolves once there is room for more. */
  outBytes(bytes: Uint8Array): Promise<void>;
  /** Everything else, without control characters. */
  error(text: string): void;
  /** Writes over the last line of standard error; for one that a person watches. */
  redraw(line: string): void;
  /** Text for a camera: white on black, whatever the terminal's own colors are; for one that a person watches. */
  picture(text: string): void;
  readonly outIsTerminal: boolean;
  readonly errorIsTerminal: boolean;
}

/** What is used of the process: two streams to write to. */
export interface Streams {
  readonly stdout: OutputStream & { on(event: "error", listener: (error: Error) => void): unknown };
  readonly stderr: OutputStream;
}

interface OutputStream {
  /** Left out where it is none. */
  readonly isTTY?: boolean;
  write(content: string | Uint8Array, done?: () => void): unknown;
}

export function createTerminal({ stdout, stderr }: Streams = process): Terminal {
  stdout.on("error", endForOutput);
  const outIsTerminal = stdout.isTTY === true;
  return {
    out: (text) => {
      stdout.write(outIsTerminal ? printable(text) : text); // A pipe gets results to the letter.
    },
    outBytes: (bytes) => new Promise((resolve) => stdout.write(bytes, () => resolve())),
    error: (text) => {
      stderr.write(printable(text));
    },
    redraw: (line) => {
      stderr.write(`\r${printable(line)}\u001b[K`);
    },
    picture: (text) => {
      for (const line of text.split("\n")) stderr.write(`\u001b[97;40m${printable(line)}\u001b[0m\n`);
    },
    outIsTerminal,
    errorIsTerminal: stderr.isTTY === true,
  };
}

/** A reader that has seen enough (`| head`) is no failure; a result that could not be written is. */
function endForOutput(error: Error & { readonly code?: string }): void {
  if (error.code === "EPIPE") process.exit(0);
  const reason = error.code === undefined ? error.message : describeCode(error.code);
  process.stderr.write(`Cannot write to standard output: ${reason}\n`);
  process.exit(1);
}

/**
 * Resolves with the first request to stop: Ctrl-C, a service manager's SIGTERM, a terminal that closes. Later
 * ones change nothing: where a whole process group is told, the launcher passes on what we were told already.
 */
export function stopRequested(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve(signal));
  });
}

/**
 * Tells of an error that nobody caught, then ends the process: what it was in the middle of is in no known state.
 * Returns what does the same for an error that was caught.
 */
export function exitOnCrash(tell: (error: unknown) => void): (error: unknown) => never {
  function crash(error: unknown): never {
    tell(error);
    process.exit(1);
  }
  for (const event of ["uncaughtException", "unhandledRejection"] as const) process.on(event, crash);
  return crash;
}
