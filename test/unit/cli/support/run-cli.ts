import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { parseCommand } from "../../../../src/cli/parse-command.ts";
import { runCommand } from "../../../../src/cli/run.ts";
import { systemTimers } from "../../../../src/lib/schedule/timers.ts";
import { createPlatform, type Platform } from "../../../../src/runtime/platform.ts";
import { createTerminal } from "../../../../src/runtime/process.ts";
import { readSecretLine } from "../../../../src/runtime/secret-input.ts";
import { startInlineHelper } from "./inline-helper.ts";

/* The command line in this process: the real commands over the machine itself, with streams of their own. */

export interface Finished {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** A command that may still run. */
export interface RunningCli {
  /** Standard output and error so far. */
  readonly out: string;
  readonly error: string;
  /** Resolves once standard error matches; rejects if the command ends without it. */
  says(pattern: RegExp): Promise<void>;
  /** Like `says`, but for standard output. */
  prints(pattern: RegExp): Promise<void>;
  /** Asks the command to stop, as Ctrl-C does. */
  stop(): Promise<Finished>;
  readonly ended: Promise<Finished>;
}

export interface CliOptions {
  /** Standard input; defaults to an empty one. */
  readonly input?: string;
  /** Replaces parts of the machine. */
  readonly platform?: Partial<Platform>;
}

/** Runs a command to its end. */
export function runCli(...args: string[]): Promise<Finished> {
  return beginCli(args).ended;
}

export function beginCli(
  args: readonly string[],
  { input = "", platform: replaced = {} }: CliOptions = {},
): RunningCli {
  const [out, error] = [createOutput(), createOutput()];
  const stop = Promise.withResolvers<void>();
  const platform = { ...createTestPlatform(input, stop.promise), ...replaced };
  const terminal = createTerminal({ stdout: out, stderr: error });
  const ended = runCommand(parseCommand(args, {}), platform, terminal, "bun src/main.ts").then(
    (code): Finished => ({ code, out: out.text, error: error.text }),
  );
  ended.then(error.end, error.end);
  ended.then(out.end, out.end);
  return {
    get out() {
      return out.text;
    },
    get error() {
      return error.text;
    },
    says: (pattern) => error.matches(pattern),
    prints: (pattern) => out.matches(pattern),
    stop() {
      stop.resolve();
      return ended;
    },
    ended,
  };
}

export interface RunningServer extends RunningCli {
  readonly url: string;
}

/** Ends with a blank or a line break, so that the port is whole. */
const URL_LINE = /(http:\/\/[^\s/]+:\d+)\s/;

/** A server that runs in this process, once every acknowledged record can be queried. */
export async function startServer(dataDir: string): Promise<RunningServer> {
  const server = beginCli(["serve", "--port", "0", "--data-dir", dataDir]);
  await Promise.all([server.says(/Ready after/), server.prints(URL_LINE)]);
  return Object.assign(server, { url: URL_LINE.exec(server.out)![1]! });
}

/** The machine without what belongs to the whole process: signals, standard input, variables. */
function createTestPlatform(input: string, stopRequested: Promise<void>): Platform {
  const machine = createPlatform();
  return {
    ...machine,
    environment: {},
    startHelper: startInlineHelper,
    quietHelpers: () => () => undefined, // They are this process's, which runs other tests.
    stopRequested: () => stopRequested,
    exitOnCrash: (tell) => (error) => {
      tell(error);
      throw error;
    },
    // A server looks for changed files all the time: no test waits for a second to pass.
    timers: { ...systemTimers, after: (_ms, call) => systemTimers.after(LOOK_MS, call) },
    inputs: {
      ...machine.inputs,
      stream: (path) => (path === "-" ? Readable.from([Buffer.from(input)]) : machine.inputs.stream(path)),
    },
    readSecretLine: (ask, end) => readSecretLine(ask, end, Readable.from([Buffer.from(input)])),
  };
}

const LOOK_MS = 5;

/** A stream to write to that is no terminal. */
function createOutput() {
  const pieces: Uint8Array[] = [];
  let isOver = false;
  let arrival = Promise.withResolvers<void>();
  const textOf = () => Buffer.concat(pieces).toString();

  function wake(): void {
    arrival.resolve();
    arrival = Promise.withResolvers();
  }

  return {
    get text() {
      return textOf();
    },
    on: () => {},
    write(content: string | Uint8Array, done?: () => void): void {
      pieces.push(Buffer.from(content)); // A copy: the writer uses its bytes again.
      wake();
      done?.();
    },
    end(): void {
      isOver = true;
      wake();
    },
    async matches(pattern: RegExp): Promise<void> {
      while (!pattern.test(textOf())) {
        if (isOver) throw new Error(`The command ended without saying ${pattern}, but: ${textOf()}`);
        await arrival.promise;
      }
    },
  };
}

/** A directory that is gone when the work is done. */
export async function withDirectory(work: (path: string) => Promise<void>): Promise<void> {
  const path = mkdtempSync(join(tmpdir(), "wherehouse-cli-"));
  try {
    await work(path);
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
}
