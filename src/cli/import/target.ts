import { IMPORT_OLD_RECORDS_BOUNDS, IMPORT_SEAL_DAYS_AT_ONCE } from "../../app/config.ts";
import { createFirstKey } from "../../app/first-key.ts";
import type { OpenDirectory } from "../../app/open-directory.ts";
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
 * What DuckDB gives out is freed with the object that stands for it, and Bun sees only how small that is: of years of
 * days that are archived it would keep hundreds of megabytes.
 */
const COLLECT_MS = 2000;

/** Where an import goes to: a data directory, which it has for itself, or a running server. */
export interface ImportTargetOpen {
  readonly deliver: Deliver;
  close(): Promise<void>;
}

export interface TargetDependencies {
  readonly platform: Platform;
  readonly clock: Clock;
  /** As the directory is set, or the server. */
  readonly retention: Retention;
  /** Has it follow what a directory is set to by now. */
  reloadRetention(): Promise<void>;
  readonly screen: ImportScreen;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

/** Fails with what a person should know. */
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
  const { text: keptBefore } = retention;
  await reloadRetention();
  if (retention.text !== keptBefore) {
    const change = `from ${keptBefore} to ${retention.text}`;
    return fail(`The retention was set ${change} while the files were read. Give the same command again.`);
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
  await handOverFirstKey(dataDir, appId, dependencies).catch(releasing(release)); // Before there is data in it.
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

/** An import that begins a directory makes its first key: the server would make none beside data. */
async function handOverFirstKey(
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
 * Delivers in the order of the calls, also where one waits for a seal. Years of old reports are more than memory holds:
 * once there are many, they are archived first.
 */
export function deliveryTo(
  { exactIngest, schedule }: Pick<OpenDirectory, "exactIngest" | "schedule">,
  appId: AppId,
  { screen, reloadRetention }: Pick<TargetDependencies, "screen" | "reloadRetention">,
): Deliver {
  const ingest = exactIngest({ signal: new AbortController().signal }); // A batch under way comes to its end.
  let before: Promise<Result<void, string>> = Promise.resolve(ok(undefined));

  async function makeRoom(turn: typeof before, batch: ReportBatch): typeof before {
    const previous = await turn;
    if (!previous.ok) return previous; // What follows a batch that was not taken would come too early.
    await reloadRetention(); // A seal must not give up what somebody has just asked to keep.
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
    const made = await room;
    if (!made.ok) return made;
    const taken = await ingest(appId, batch);
    if (taken.ok) {
      const { accepted, duplicates, created } = taken.value;
      const sameTime = sameTimeOf(taken.value);
      const alreadyThere = accepted + duplicates - created - sameTime;
      return ok({ created, sameTime, alreadyThere, resent: 0, rejected: [] });
    }
    return fail(reasonOf(taken.error));
  };
}

function reasonOf(error: ServiceError): string {
  switch (error.kind) {
    case "archive_damaged":
      return (
        `The archive has lost records of ${error.days.join(", ")}, so new points can't be told from known ones. ` +
        "verify says more; after verify --acknowledge the import goes on without them"
      );
    case "unavailable":
      return error.message;
    default:
      return error.kind;
  }
}
