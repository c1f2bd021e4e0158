import type { Occasion } from "../disk/faults.ts";
import { flipByte, MANIFEST } from "../disk/flips.ts";
import type { RunBatches } from "../reports/batches.ts";
import type { RunContext } from "./context.ts";
import { ARCHIVE_DIRECTORY, closeService } from "./service.ts";
import { armFault, countEnd, createRunStarts } from "./starts.ts";

/** Starts and ends the service, and lets things go wrong with its disk. */
export interface RunMachine {
  /** Starts the service, again and again where that is cut off. */
  start(): Promise<void>;
  /** Ends the service in some way, and what lies on the disk may change. */
  end(): Promise<void>;
  /** Ends it as it should, and starts it once, with nothing that goes wrong. */
  restartCalmly(): Promise<void>;
  /** Something will go wrong within so many operations. */
  arm(withinOperations: number, occasion?: Occasion): void;
  /** A seal came to its end, and there may be a manifest. */
  noteSealed(): void;
}

export function createRunMachine(run: RunContext, batches: RunBatches): RunMachine {
  const { draws, plan, disk, totals } = run;
  const starts = createRunStarts(run, batches);

  async function stop(): Promise<void> {
    countEnd(run);
    await closeService(run.service);
    await batches.settled();
    disk.unreadable.clear();
  }

  return {
    start: starts.start,
    arm: (withinOperations, occasion) => armFault(run, withinOperations, occasion),
    async end() {
      if (disk.isDead) {
        run.tell("the machine or the process died");
      } else {
        const how = draws.weighted({ close: 3, kill: 2, power: 3 });
        run.tell({ close: "closed", kill: "killed", power: "the power fails" }[how]);
        if (how === "power") totals.powerFailures++;
        if (how === "kill") totals.kills++;
        if (how !== "close") disk.die(how, draws.chance(0.7) ? () => draws.next() : undefined);
      }
      await stop();
      if (draws.chance(plan.flipChance)) await flip(run);
      if (draws.chance(plan.flipChance / 3)) hideFile(run);
    },
    async restartCalmly() {
      await stop();
      await starts.startCalmly();
    },
    noteSealed: starts.noteSealed,
  };
}

async function flip(run: RunContext): Promise<void> {
  const { damage, disk, draws, engine, forgesChecksums, totals } = run;
  const flipped = await flipByte({ disk, engine, draws, flipped: damage.flipped, forgesChecksums });
  if (flipped === null) return;
  totals.flips++;
  const { path, offset } = flipped;
  const entry =
    flipped.kind === "log" && flipped.frame !== null ? `, in entry ${flipped.frame.sequence}` : "";
  run.tell(`a byte flips: ${offset} of ${path}${entry}`);
  const isForged = forgesChecksums && flipped.kind === "log" && flipped.frame !== null;
  if (!isForged) damage.noteFlip(flipped);
}

function hideFile({ damage, disk, draws, tell }: RunContext): void {
  const paths = [...disk.contents().keys()].filter(
    (path) => path.endsWith(".wal") || path.startsWith(`${ARCHIVE_DIRECTORY}/`),
  );
  if (paths.length === 0) return;
  const path = draws.pick(paths);
  if (path === MANIFEST && damage.hasFlippedPart(disk.contents())) return; // See `isBeyondTelling`.
  tell(`can't be read until the next restart: ${path}`);
  disk.unreadable.add(path);
}
