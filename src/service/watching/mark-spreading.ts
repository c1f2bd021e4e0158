import type { Mark, MarksOfApp } from "../../hot/change-marks.ts";
import type { HotStore } from "../../hot/hot-store.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { AppId } from "../../model/ids.ts";
import type { DeviceStates } from "./device-states.ts";

/** Devices of a step. */
const STEP_DEVICES = 4096;
const PAGE_DEVICES = 512;

/**
 * Marks the devices that a change of a fence or an alert may matter to: those that have a state for it, and those with
 * records from its time or later, which may have been decided before the change was known.
 */
export class MarkSpreading {
  readonly #hot: Pick<HotStore, "marks" | "findApp">;
  readonly #states: DeviceStates;
  readonly #scheduler: Scheduler;
  /** Work that has begun. */
  #work: Promise<void> = Promise.resolve();
  #underWay: readonly Mark[] = [];

  constructor(dependencies: {
    readonly hot: Pick<HotStore, "marks" | "findApp">;
    readonly states: DeviceStates;
    readonly scheduler: Scheduler;
  }) {
    this.#hot = dependencies.hot;
    this.#states = dependencies.states;
    this.#scheduler = dependencies.scheduler;
  }

  /** The first entry of the log whose change is being spread; `Infinity` if there is none. */
  get firstSequence(): number {
    return Math.min(Infinity, ...this.#underWay.map(({ sequence }) => sequence));
  }

  /** Whether any change is not spread yet. */
  get isNeeded(): boolean {
    return (
      this.#underWay.length > 0 ||
      this.#hot
        .marks()
        .apps()
        .some(([, { watches }]) => watches.size > 0)
    );
  }

  /** Spreads all changes so far. Rejects if the database fails; the changes then remain. */
  spread(signal: AbortSignal): Promise<void> {
    const work = this.#work.then(async () => {
      for (const [appId, marks] of [...this.#hot.marks().apps()])
        if (marks.watches.size > 0 && !signal.aborted) await this.#spreadOf(appId, marks);
    });
    this.#work = work.catch(() => undefined);
    return work;
  }

  async #spreadOf(appId: AppId, marks: MarksOfApp): Promise<void> {
    const changed = [...marks.watches];
    marks.watches.clear();
    this.#underWay = changed.map(([, mark]) => mark);
    try {
      await this.#scheduler.run(`\0${appId}`, this.#steps(appId, marks, changed));
    } catch (error) {
      for (const [id, { fromMs, sequence }] of changed) marks.noteWatch(id, fromMs, sequence);
      throw error;
    } finally {
      this.#underWay = [];
    }
  }

  *#steps(appId: AppId, marks: MarksOfApp, changed: readonly (readonly [string, Mark])[]): Steps<void> {
    for (const [id, { fromMs, sequence }] of changed) {
      let page = this.#states.near(appId, id, "", PAGE_DEVICES);
      while (page.length > 0) {
        for (const deviceId of page) marks.note(deviceId, fromMs, sequence);
        yield;
        page = this.#states.near(appId, id, page.at(-1)!, PAGE_DEVICES);
      }
      yield;
    }
    const fromMs = Math.min(...changed.map(([, mark]) => mark.fromMs));
    const sequence = Math.min(...changed.map(([, mark]) => mark.sequence));
    for (let device = 0; device < (this.#hot.findApp(appId)?.table.numbersEnd ?? 0); device++) {
      const app = this.#hot.findApp(appId);
      if (app !== null && app.newestTimes.of(device) >= fromMs)
        marks.note(app.table.idOf(device), fromMs, sequence);
      if (device % STEP_DEVICES === STEP_DEVICES - 1) yield;
    }
  }
}
