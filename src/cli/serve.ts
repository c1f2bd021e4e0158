import { type App, openApp } from "../app.ts";
import type { NewKey } from "../auth/key-store.ts";
import type { Config } from "../config.ts";
import { directoryPaths } from "../directory.ts";
import { DirectoryInUseError } from "../open-directory.ts";
import type { Files } from "../runtime/files.ts";
import { ListenError } from "../runtime/listen.ts";
import type { Platform } from "../runtime/platform.ts";
import type { Terminal } from "../runtime/process.ts";
import { systemClock } from "../time/clock.ts";
import type { LogRefusal } from "../wal/wal.ts";
import { didAnything, sealSummary } from "./seal-report.ts";

/** Serves until it is asked to stop; returns the exit code. */
export async function serve(
  config: Config,
  platform: Platform,
  terminal: Terminal,
  stopRequested: Promise<unknown>,
): Promise<number> {
  const startedMs = performance.now();
  const say = (line: string) => terminal.error(`${line}\n`);
  let app: App;
  try {
    app = await openApp(config, platform, systemClock, {
      onReady({ recovery, hot, archive }) {
        const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
        const [records, devices] = [hot.recordCount, hot.deviceCount].map((count) =>
          count.toLocaleString("en"),
        );
        const sealedDays = archive.manifest.days.size;
        const sealed =
          sealedDays === 0 ? "" : ` and ${sealedDays} archived day${sealedDays === 1 ? "" : "s"}`;
        say(`Ready after ${seconds} s with ${records} records of ${devices} devices${sealed}.`);
        const { tornTail } = recovery;
        if (tornTail !== null)
          say(`Cut off: the last write to ${tornTail.file} was never finished, nor acknowledged.`);
        for (const { file, offset, bytes, savedAs } of recovery.damage) {
          say(
            `Damaged: ${bytes} bytes of ${file} at ${offset}, set aside as ${savedAs}. The rest is served.`,
          );
        }
      },
      onRefusal: createRefusalNotice(say),
      onArchiveNote: (note) => say(`Archive: ${note}`),
      onSealed: (report) => {
        if (didAnything(report)) say(sealSummary(report));
      },
      onSealFailed: (error) => say(`Nothing was archived, and nothing lost: ${faultText(error)}`),
      onKeyFile: (reason) => say(`Keys: ${reason}`),
      onFault: (requestId, error) => say(`Failed to answer request ${requestId}: ${faultText(error)}`),
    });
  } catch (error) {
    if (!(error instanceof DirectoryInUseError || error instanceof ListenError)) throw error;
    say(error.message);
    return 1;
  }
  await announce(app, config.dataDir, platform.files, terminal);
  const failed = app.ready.then(
    () => new Promise<never>(() => undefined),
    (error: unknown) => ({ error }),
  );
  const failure = await Promise.race([stopRequested.then(() => null), failed]);
  say("Stopping: what was accepted is answered first.");
  await app.close();
  say("Stopped.");
  if (failure !== null) throw failure.error;
  return 0;
}

/** The address, the key that nobody has yet, and a line to paste. */
async function announce(
  { url, firstKey }: App,
  dataDir: string,
  files: Files,
  terminal: Terminal,
): Promise<void> {
  const lines = [`Wherehouse listens at ${url} (its interface: ${url}/docs/ui)`];
  let shownKey = "$WHEREHOUSE_KEY";
  if (firstKey !== null) {
    const { line, shown } = await handOver(firstKey, dataDir, files, terminal);
    lines.push(line);
    shownKey = shown;
  }
  lines.push(
    "Ask it where all devices are:",
    `  curl -H "Authorization: Bearer ${shownKey}" ${url}/api/v1/locations/current`,
  );
  terminal.out(`${lines.join("\n")}\n`);
}

/** Shows the key to a person, or leaves it in a file that only its owner can read: output to a pipe may be a log. */
async function handOver(firstKey: NewKey, dataDir: string, files: Files, terminal: Terminal) {
  if (terminal.outIsTerminal) {
    return { line: `The first key, shown this once: ${firstKey.text}`, shown: firstKey.text };
  }
  const path = directoryPaths(dataDir).firstKey;
  await files.replace(path, new TextEncoder().encode(`${firstKey.text}\n`));
  return { line: `The first key is in ${path}`, shown: `$(cat '${path}')` };
}

const REPEAT_NOTICE_MS = 60_000;

/** Says why reports are refused: when it begins, when the reason changes, and once a minute while it lasts. */
function createRefusalNotice(say: (line: string) => void): (refusal: LogRefusal) => void {
  let saidKind = "";
  let saidMs = Number.NEGATIVE_INFINITY;
  return (refusal) => {
    if (refusal.kind === saidKind && performance.now() - saidMs < REPEAT_NOTICE_MS) return;
    saidKind = refusal.kind;
    saidMs = performance.now();
    const cause = "cause" in refusal ? `: ${faultText(refusal.cause)}` : "";
    say(`Reports are refused, ${REFUSAL_TEXTS[refusal.kind]}${cause}`);
  };
}

const REFUSAL_TEXTS: Readonly<Record<LogRefusal["kind"], string>> = {
  log_full: "the disk is full; they are taken again once there is room",
  log_unopened: "no file can be opened; they are taken again once one can",
  log_failed: "the disk failed and can't be trusted until a restart",
  log_queue_full: "more wait for the disk than memory is meant to hold",
  log_closed: "the server is stopping",
};

function faultText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
