import process from "node:process";

/** Standard output and error, and whether a person watches them. */
export interface Terminal {
  /** Results: what a pipe should carry. */
  out(text: string): void;
  /** Everything else. */
  error(text: string): void;
  readonly outIsTerminal: boolean;
}

export function createTerminal(): Terminal {
  return {
    out: (text) => {
      process.stdout.write(text);
    },
    error: (text) => {
      process.stderr.write(text);
    },
    outIsTerminal: process.stdout.isTTY === true,
  };
}

/** Resolves with the first request to stop: Ctrl-C, or a service manager's SIGTERM. */
export function stopRequested(): Promise<"SIGINT" | "SIGTERM"> {
  return new Promise((resolve) => {
    process.once("SIGINT", () => resolve("SIGINT"));
    process.once("SIGTERM", () => resolve("SIGTERM"));
  });
}
