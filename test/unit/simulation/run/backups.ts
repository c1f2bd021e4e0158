import { type BackupReport, backUp } from "../../../../src/operator/backup/backup.ts";
import { restore } from "../../../../src/operator/backup/restore.ts";
import type { Files } from "../../../../src/runtime/files.ts";
import { copyNoSqlite } from "../../../support/disk/memory-sqlite.ts";
import { createMirroredDisk, SIMULATED_DATA_DIR } from "../../../support/disk/mirrored-disk.ts";
import { createSimulatedFiles } from "../../../support/disk/simulated-files.ts";
import { answeredRange } from "../check/checks.ts";
import { findMismatch } from "../check/compare.ts";
import type { Contribution, Fate, RecordHistory } from "../check/model.ts";
import { observeApp } from "../check/observe.ts";
import type { RunBatches } from "../reports/batches.ts";
import type { RunContext } from "./context.ts";
import type { RunMachine } from "./machine.ts";
import { closeService, openService } from "./service.ts";

/** Backups of a run's directory, beside reports, and what they must give back. */
export interface RunBackups {
  backUp(): Promise<void>;
  /** Restores what the last backup left, and compares it with what was there when it was taken. */
  expectRestored(): Promise<void>;
}

/** What a backup holds. */
interface Moment {
  readonly takenMs: number;
  /** What was known when it began; null where nobody can tell what it holds. */
  readonly fates: ReadonlyMap<Contribution, Fate> | null;
  /** Of what came meanwhile it has all up to this entry of the log. */
  readonly lastSequence: number;
}

const BACKUP = "/backup";
const RESTORED = "/restored";
/** A backup has about so many operations. */
const BACKUP_OPERATIONS = 60;

export function createRunBackups(run: RunContext, batches: RunBatches, machine: RunMachine): RunBackups {
  const { clock, disk, draws, plan, totals } = run;
  /** What may be restored: the last backup that was whole, and those after it that were cut off. */
  let moments: Moment[] = [];
  let hasWhole = false;

  return {
    async backUp() {
      totals.backups++;
      const fates = knownFates(run);
      const takenMs = clock.nowMs();
      if (draws.chance(plan.faultChance)) machine.arm(BACKUP_OPERATIONS, "backup");
      const often = draws.pick([0, 0.05, 0.3]);
      disk.watch(() => draws.chance(often) && batches.sendAside());
      const { files } = run.service;
      const directories = { dataDir: SIMULATED_DATA_DIR, directory: BACKUP };
      const outcome = await backUp({
        copySqlite: copyNoSqlite,
        files,
        clock,
        program: "simulation",
        ...directories,
        ...alone(files),
      }).catch((error) => {
        if (disk.fired.length === 0) run.fail(`the backup failed: ${error}`, error);
        return { ok: false as const, error: String(error) };
      });
      disk.watch(null);
      await batches.settled();
      if (outcome.ok) {
        const { files: count, lastSequence } = outcome.value;
        run.tell(`backed up ${count} files, up to entry ${lastSequence}`);
        moments = [{ takenMs, fates: isCertain(run, outcome.value) ? fates : null, lastSequence }];
        hasWhole = true;
      } else {
        run.tell(`the backup fails: ${outcome.error}`);
        moments.push({ takenMs, fates: null, lastSequence: 0 });
      }
    },
    async expectRestored() {
      if (moments.length === 0) return;
      const files = createSimulatedFiles(disk.contents());
      const outcome = await restore({ files, directory: BACKUP, dataDir: RESTORED, ...alone(files) });
      if (!outcome.ok) {
        if (hasWhole) run.fail(`nothing is restored: ${outcome.error.message}`);
        return;
      }
      const possible = moments.filter(({ takenMs }) => takenMs === outcome.value.takenMs);
      if (possible.length === 0) run.fail("what is restored was never backed up");
      if (possible.some(({ fates }) => fates === null)) return;
      const restored = new Map<string, Uint8Array>();
      for (const [path, bytes] of files.contents())
        if (path.startsWith(`${RESTORED}/`)) restored.set(path.replace(RESTORED, SIMULATED_DATA_DIR), bytes);
      await expectMoment(run, restored, possible[0]!);
    },
  };
}

function knownFates({ damage, model, plan }: RunContext): ReadonlyMap<Contribution, Fate> {
  const records = plan.apps.flatMap((appId) => [...model.histories(appId, [])]);
  const known = records.flatMap(({ contributions }) => contributions);
  return new Map(known.map((each) => [each, damage.isUnread(each) ? "optional" : each.fate]));
}

/** A file that could not be read, or a write under way that a crash took back, may be in it otherwise than it was. */
function isCertain({ disk, model }: RunContext, report: BackupReport): boolean {
  return report.problems.length === 0 && model.open.length === 0 && !disk.isDead;
}

async function expectMoment(
  run: RunContext,
  contents: ReadonlyMap<string, Uint8Array>,
  moment: Moment,
): Promise<void> {
  const { clock, retention, createSalt, engine, model, plan } = run;
  const mirror = engine.makeDirectory();
  const disks = createMirroredDisk(createSimulatedFiles(contents), mirror);
  const { segmentBytesMax } = plan;
  const service = await openService({
    machine: { ...disks, engine: engine.archive },
    clock,
    retention,
    segmentBytesMax,
    createSalt,
    planted: {},
  });
  for (const appId of plan.apps) {
    const histories = historiesAt(moment, model.histories(appId, []));
    const edgeMs = retention.startMs(clock.nowMs());
    const expected = { histories, edgeMs, isLoose: () => false, mayLackNewest: service.mayLackNewest() };
    const asked = { appId, users: plan.users, devices: [], historyUser: null, range: answeredRange(run) };
    const mismatch = findMismatch(expected, await observeApp(service, asked));
    if (mismatch !== null) run.fail(`restored from a backup, ${appId}: ${mismatch}`);
  }
  await closeService(service);
  engine.removeDirectory(mirror);
}

/** Records as they were at a moment: what came later must not be there. */
function historiesAt({ fates, lastSequence }: Moment, records: Iterable<RecordHistory>): RecordHistory[] {
  return [...records].map((record) => ({
    ...record,
    contributions: record.contributions.map((each) => {
      const { sequence } = each.batch;
      const fate = fates!.get(each) ?? (sequence !== null && sequence <= lastSequence ? "kept" : "deleted");
      return { ...each, fate };
    }),
  }));
}

/** Nobody else has the directories, and nobody watches. */
function alone(files: Files) {
  return {
    async take(directory: string) {
      await files.makeDirectory(directory);
      return () => {};
    },
    onProgress: () => {},
  };
}
