import type { TimeRange } from "../../../../src/model/time/range.ts";
import { FUTURE_MAX_MS } from "../../../../src/model/time/retention.ts";
import { hindersReading } from "../disk/faults.ts";
import { nameOf, type RunBatches } from "../reports/batches.ts";
import type { RunContext } from "../run/context.ts";
import { findMismatch } from "./compare.ts";
import type { SentBatch } from "./model.ts";
import { type ObservedApp, observeApp } from "./observe.ts";

export interface CheckOptions {
  /** Asks all apps, each device and a user too, which takes an archive a while. */
  readonly isThorough: boolean;
  /** From here on open batches are there for good, or gone. */
  readonly settles: boolean;
}

/** Compares all that the service answers with the model. */
export async function checkAnswers(
  run: RunContext,
  batches: RunBatches,
  { isThorough, settles }: CheckOptions,
): Promise<void> {
  const { plan, clock, retention, disk, damage, totals } = run;
  if (disk.isDead) return;
  disk.pause(true);
  totals.checks++;
  const shown: SentBatch[] = [];
  for (const appId of isThorough ? plan.apps : appsOfLightCheck(run)) {
    const observed = await observe(run, appId, isThorough);
    shown.push(...matchOpen(run, batches, appId, observed));
    const wrong = damage.findWrongDays(run.service, appId, observed, {
      edgeMs: retention.startMs(clock.nowMs()),
      mayFailReading: wasHindered(run),
      contents: disk.contents(),
    });
    if (wrong !== null) run.fail(`${appId}: ${wrong}`);
  }
  disk.pause(false);
  batches.noteShown(shown, settles);
}

/** One, and those of which the answers alone tell what is there. */
function appsOfLightCheck({ plan, draws, model }: RunContext): readonly string[] {
  const drawn = draws.pick(plan.apps);
  return plan.apps.filter((appId) => appId === drawn || model.open.some((batch) => batch.appId === appId));
}

/** Whether files may have seemed damaged since the last start that are not. */
export function wasHindered({ disk }: RunContext): boolean {
  return disk.unreadable.size > 0 || disk.fired.some(hindersReading);
}

/** All that may be answered: clocks are set back, and then reports lie ahead. */
export function answeredRange({ clock, retention, model }: RunContext): TimeRange {
  const nowMs = clock.nowMs();
  return {
    startMs: retention.startMs(nowMs),
    endMs: Math.max(nowMs + FUTURE_MAX_MS, model.newestMs) + 1,
  };
}

async function observe(run: RunContext, appId: string, isThorough: boolean): Promise<ObservedApp> {
  const { users, devices, silentDevices } = run.plan;
  try {
    return await observeApp(run.service, {
      appId,
      users,
      devices: isThorough ? [...devices, ...silentDevices] : [],
      historyUser: isThorough ? users[0]! : null,
      range: answeredRange(run),
    });
  } catch (error) {
    return run.fail(`${appId}: ${error}`, error);
  }
}

/** Which of the open batches the answers show: whatever it is, each as a whole. */
function matchOpen(
  run: RunContext,
  batches: RunBatches,
  appId: string,
  observed: ObservedApp,
): readonly SentBatch[] {
  const { model, damage, service, clock, retention } = run;
  let mismatch: string | null = null;
  for (const shown of batches.guesses(appId)) {
    mismatch = findMismatch(
      {
        histories: model.histories(appId, shown),
        edgeMs: retention.startMs(clock.nowMs()),
        isLoose: damage.isUnread,
        mayLackNewest: service.mayLackNewest(),
      },
      observed,
    );
    if (mismatch === null) return shown;
  }
  const open = model.open.filter((batch) => batch.appId === appId);
  const whichever = open.length > 0 ? `\n  whichever of ${open.map(nameOf).join("; ")} is there` : "";
  return run.fail(`${appId}: ${mismatch}${whichever}`);
}
