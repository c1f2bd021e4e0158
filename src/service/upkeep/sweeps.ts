import type { Clock } from "../../model/time/clock.ts";
import type { Retention } from "../../model/time/retention.ts";
import { type Files, unlessFileError } from "../../runtime/files.ts";
import type { Quarantine } from "../quarantine/quarantine.ts";
import { findExpired } from "./expiry.ts";

/** Every hour the quarantine gives up what has expired, and writes down how often the rest came. */
export interface QuarantineSweeps {
  start(): void;
  /** Waits for the one under way. */
  stop(): Promise<void>;
}

export interface QuarantineSweepsOptions {
  readonly quarantine: Quarantine;
  readonly files: Files;
  readonly directory: string;
  readonly clock: Clock;
  readonly retention: Retention;
}

const INTERVAL_MS = 60 * 60 * 1000;

export function createQuarantineSweeps(options: QuarantineSweepsOptions): QuarantineSweeps {
  let timer: ReturnType<typeof setInterval> | null = null;
  let running: Promise<void> = Promise.resolve();
  const begin = () => {
    running = running.then(() => sweep(options));
  };
  return {
    start() {
      begin();
      timer = setInterval(begin, INTERVAL_MS);
    },
    async stop() {
      if (timer !== null) clearInterval(timer);
      await running;
    },
  };
}

/** Where the disk refuses, the next sweep does it. */
async function sweep({
  quarantine,
  files,
  directory,
  clock,
  retention,
}: QuarantineSweepsOptions): Promise<void> {
  if (quarantine.totals.entries === 0) return;
  try {
    await quarantine.sweep(await findExpired(files, directory, clock.nowMs(), retention));
  } catch (error) {
    unlessFileError(error);
  }
}
