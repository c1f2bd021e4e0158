import process from "node:process";
import { printable } from "../lib/text/printable.ts";
import { describeCode } from "./files.ts";

/** Standard output and standard error. */
export interface Terminal {
  /** Writes results, which a pipe should carry. */
  out(text: string): void;
  /** Writes bytes of a result; resolves once there is room for more. */
  outBytes(bytes: Uint8Array): Promise<void>;
  /** Writes everything else, without control characters. */
  error(text: string): void;
  /** Replaces the last line of standard error; for a terminal. */
  redraw(line: string): void;
  /** Writes text for a camera: white on black, whatever the terminal's colors are. */
  picture(text: string): void;
  readonly outIsTerminal: boolean;
  readonly errorIsTerminal: boolean;
}

export interface Streams {
  readonly stdout: OutputStream & { on(event: "error", listener: (error: Error) => void): unknown };
  readonly stderr: OutputStream;
}

interface OutputStream {
  /** Missing if the stream is not a terminal. */
  readonly isTTY?: boolean;
  write(content: string | Uint8Array, done?: () => void): unknown;
}

export function createTerminal({ stdout, stderr }: Streams = process): Terminal {
  stdout.on("error", endForOutput);
  const outIsTerminal = stdout.isTTY === true;
  return {
    out: (text) => {
      stdout.write(outIsTerminal ? printable(text) : text); // A pipe gets results unchanged.
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

/** A reader that closes the pipe (`| head`) is no failure; a result that could not be written is. */
function endForOutput(error: Error & { readonly code?: string }): void {
  if (error.code === "EPIPE") process.exit(0);
  const reason = error.code === undefined ? error.message : describeCode(error.code);
  process.stderr.write(`Cannot write to standard output: ${reason}\n`);
  process.exit(1);
}

/**
 * Resolves with the first request to stop: Ctrl-C, a service manager's SIGTERM, a terminal that closes. Later signals
 * change nothing: if a whole process group is signalled, the launcher passes on a signal that this process already has.
 */
export function stopRequested(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve(signal));
  });
}

/** Reports an uncaught error, then ends the process; the result does the same for a caught error. */
export function exitOnCrash(report: (error: unknown) => void): (error: unknown) => never {
  function crash(error: unknown): never {
    report(error);
    process.exit(1);
  }
  for (const event of ["uncaughtException", "unhandledRejection"] as const) process.on(event, crash);
  return crash;
}
