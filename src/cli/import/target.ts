import { IMPORT_OLD_RECORDS_BOUNDS, IMPORT_SEAL_DAYS_AT_ONCE } from "../../app/config.ts";
import type { OpenDirectory } from "../../app/directory.ts";
import { createFirstKey } from "../../app/first-key.ts";
import { openKeyStore } from "../../auth/key-store.ts";
import { directoryPaths } from "../../directory/paths.ts";
import { beginDirectory, DirectoryInUseError } from "../../directory/take-directory.ts";
import type { Deliver } from "../../import/deliver.ts";
import { createPostDelivery } from "../../import/post.ts";
import { messageOf } from "../../lib/message-of.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { wait } from "../../lib/schedule/timers.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import { ERASED } from "../../model/report.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import type { Clock } from "../../model/time/clock.ts";
import type { Retention } from "../../model/time/retention.ts";
import type { Platform } from "../../runtime/platform.ts";
import type { Terminal } from "../../runtime/process.ts";
import { sameTimeOf } from "../../service/ingest/ingest.ts";
import { newDirectoryText } from "../directory/data-directory.ts";
import { openForCommand, releasing } from "../directory/open-for-command.ts";
import { damageLine } from "../screen/directory-report.ts";
import { revealFirstKey } from "../serve/sign-in.ts";
import type { ImportOptions } from "./command.ts";
import type { ImportScreen } from "./screen.ts";

/**
 * DuckDB's memory is freed when its JavaScript object is collected, and Bun sees only the small object: without this
 * timer an import that archives years of days holds hundreds of megabytes.
 */
const COLLECT_MS = 2000;

/** The target of an import: a data directory, which it owns, or a running server. */
export interface ImportTargetOpen {
  readonly deliver: Deliver;
  close(): Promise<void>;
}

export interface TargetDependencies {
  readonly platform: Platform;
  readonly clock: Clock;
  /** The retention of the directory or the server. */
  readonly retention: Retention;
  /** Updates `retention` from the directory's settings. */
  reloadRetention(): Promise<void>;
  readonly screen: ImportScreen;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

/** The error is a sentence. */
export async function openTarget(
  { dataDir, target }: ImportOptions,
  dependencies: TargetDependencies,
): Promise<Result<ImportTargetOpen, string>> {
  const { platform, retention, reloadRetention, screen, signal } = dependencies;
  if (target.kind === "server") {
    const deliver = createPostDelivery({
      ...target,
      post: (url, init) => fetch(url, init),
      wait: (milliseconds) => wait(milliseconds, signal),
      signal,
      onWait: (reason, seconds) => screen.say(`${reason}. Trying again in ${seconds} s.`),
    });
    return ok({ deliver, close: async () => undefined });
  }
  const { appId } = target;
  if (appId === null) return fail("An import into a data directory needs --app.");
  const { text: retentionBefore } = retention;
  await reloadRetention();
  if (retention.text !== retentionBefore) {
    const change = `from ${retentionBefore} to ${retention.text}`;
    return fail(`The retention changed ${change} while the files were read. Repeat the same command.`);
  }
  if (!(await platform.files.exists(dataDir))) screen.say(newDirectoryText(dataDir));
  try {
    const directory = await openToImport(dataDir, appId, dependencies);
    for (const damage of directory.damage) screen.say(damageLine(damage));
    const collecting = setInterval(() => platform.collectGarbage(), COLLECT_MS);
    return ok({
      deliver: deliveryTo(directory, appId, dependencies),
      close() {
        clearInterval(collecting);
        return directory.close();
      },
    });
  } catch (error) {
    if (!(error instanceof DirectoryInUseError)) throw error;
    return fail(`${error.message} To import through a running server, use ${error.urlFlag} and --key.`);
  }
}

async function openToImport(
  dataDir: string,
  appId: AppId,
  dependencies: TargetDependencies,
): Promise<OpenDirectory> {
  const { platform, clock, retention, screen } = dependencies;
  const release = await beginDirectory(dataDir, "import", platform, clock);
  await printFirstKey(dataDir, appId, dependencies).catch(releasing(release)); // The directory is still empty.
  return openForCommand({
    dataDir,
    platform,
    startHelper: platform.startHelper,
    clock,
    retention,
    oldRecords: IMPORT_OLD_RECORDS_BOUNDS,
    sealDaysAtOnce: IMPORT_SEAL_DAYS_AT_ONCE,
    say: screen.say,
    events: {
      onArchiveNote: screen.say,
      onSealFailed: (error) => screen.say(`Old reports could not be archived: ${messageOf(error)}`),
    },
    onProgress: screen.onReplayed,
    release,
  });
}

/** Creates the first key of a new directory: a server creates none if the directory has data. */
async function printFirstKey(
  dataDir: string,
  appId: AppId,
  { platform, clock, screen, terminal }: TargetDependencies,
): Promise<void> {
  const { files, acquireLock, pid } = platform;
  const paths = directoryPaths(dataDir);
  const process = { pid, command: "import" };
  const keys = await openKeyStore({ files, path: paths.keys, clock, acquireLock, process });
  const firstKey = await createFirstKey(keys, files, paths, appId);
  if (firstKey !== null)
    screen.say((await revealFirstKey(firstKey, dataDir, files, terminal.errorIsTerminal)).line);
}

/**
 * Delivers batches in the order of the calls, even if one of them waits for a seal. Years of old reports do not fit
 * into memory: once there are many, they are archived first.
 */
export function deliveryTo(
  { exactIngest, schedule }: Pick<OpenDirectory, "exactIngest" | "schedule">,
  appId: AppId,
  { screen, reloadRetention }: Pick<TargetDependencies, "screen" | "reloadRetention">,
): Deliver {
  const ingest = exactIngest({ signal: new AbortController().signal }); // Never aborts: a batch runs to its end.
  let before: Promise<Result<void, string>> = Promise.resolve(ok(undefined));

  async function makeRoom(turn: typeof before, batch: ReportBatch): typeof before {
    const previous = await turn;
    if (!previous.ok) return previous; // After a failed batch the next ones would be out of order.
    await reloadRetention(); // A seal must not expire days that a longer retention has just saved.
    try {
      await schedule.makeRoomFor(batch, screen.onSealing);
      return ok(undefined);
    } catch (error) {
      return fail(`Old reports could not be archived: ${messageOf(error)}`);
    }
  }

  return async (batch) => {
    const room = makeRoom(before, batch);
    before = room;
    const hasRoom = await room;
    if (!hasRoom.ok) return hasRoom;
    const result = await ingest(appId, batch);
    if (!result.ok) return fail(reasonOf(result.error));
    const { accepted, duplicates, created, blocked } = result.value;
    const sameTime = sameTimeOf(result.value);
    const alreadyThere = accepted + duplicates - created - sameTime;
    return ok({
      created,
      sameTime,
      alreadyThere,
      resent: 0,
      rejected: blocked.map((index) => ({ index, message: ERASED })),
    });
  };
}

function reasonOf(error: ServiceError): string {
  switch (error.kind) {
    case "archive_damaged":
      return (
        `The archive has lost records of ${error.days.join(", ")}, so known points can't be recognized. ` +
        "Run verify for details; after verify --acknowledge the import continues without those records"
      );
    case "unavailable":
      return error.message;
    default:
      return error.kind;
  }
}
