import type { AppDevices } from "../../hot/app-devices.ts";
import type { HotStore } from "../../hot/hot-store.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import { inOneStep, type Steps } from "../../lib/schedule/steps.ts";
import { nextTurn } from "../../lib/schedule/timers.ts";
import type { AppId } from "../../model/ids.ts";
import { utcDayOf } from "../../model/time/utc-day.ts";
import type { FindDependencies } from "../queries/find-device.ts";
import { ChangeBatch, DeviceMarks } from "./change-batch.ts";
import { Event, FeedViewer } from "./feed-viewer.ts";
import type { EventWriter, ViewerQuery } from "./live.ts";
import { lastSequenceOf, startOf } from "./viewer-filter.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** How often viewers are told. */
export interface Pace {
  /** From one event of a viewer to the next, at least. */
  readonly restMs: number;
  /** And as many times as long as it took to tell all viewers of the app: so they get a part of a core, and no more. */
  readonly restTimes: number;
}

export interface FeedDependencies {
  readonly hot: HotStore;
  readonly edges: Edges;
  readonly scheduler: Scheduler;
  readonly pace: Pace;
  /** Nobody looks at the app any more. */
  onEmpty(): void;
}

/** Tells the viewers of one app what became visible of it. */
export class Feed {
  readonly #appId: AppId;
  readonly #dependencies: FeedDependencies;
  readonly #owner: string;
  readonly #viewers = new Set<FeedViewer>();
  readonly #marks = new DeviceMarks();
  /** As it was when somebody last looked; null where it is not there. */
  #app: AppDevices | null = null;
  #isTelling = false;
  /** When viewers may be told again. */
  #dueMs = 0;
  /** What was spent on viewers since that was set. */
  #spentMs = 0;

  constructor(appId: AppId, dependencies: FeedDependencies) {
    this.#appId = appId;
    this.#dependencies = dependencies;
    this.#owner = `viewers of ${appId}`;
  }

  get viewers(): ReadonlySet<FeedViewer> {
    return this.#viewers;
  }

  open(query: ViewerQuery, writer: EventWriter): FeedViewer {
    this.#look();
    const viewer = new FeedViewer(query, writer, this.#cursorAfter(query), this.#listener);
    viewer.toldSequence = query.sinceSequence ?? viewer.filter.lastSequence(this.#app);
    this.#viewers.add(viewer);
    return viewer;
  }

  /** Something changed, or may have. */
  wake(): void {
    this.#look();
    if (!this.#isTelling && this.#isAnyBehind()) void this.#tellAll();
  }

  readonly #listener = {
    wanted: (viewer: FeedViewer) => {
      if (viewer.event === null) this.#tellIfBehind(viewer);
      else
        void this.#dependencies.scheduler.run(
          this.#owner,
          inOneStep(() => this.#tryTo(viewer, () => this.#goOn(viewer, null))),
        );
    },
    closed: (viewer: FeedViewer) => {
      this.#viewers.delete(viewer);
      if (this.#viewers.size === 0) this.#dependencies.onEmpty();
    },
  };

  /** Null where it is not known what came after. */
  #cursorAfter({ sinceSequence: sequence, view }: ViewerQuery): number | null {
    if (sequence === null) return this.#end;
    const app = this.#app;
    // A share link was told no id that only others had. Were those good to go on from, it could try when others report.
    if (view !== null && sequence > lastSequenceOf(app, view.deviceIds, startOf(view))) return null;
    if (app === null) return sequence < this.#dependencies.hot.changesSince ? null : 0;
    // A later one is of another log, or of this one before it was restored.
    return sequence > app.touches.sequence ? null : app.changes.positionAfter(sequence);
  }

  /** Takes note of what viewers can't be told by changes. */
  #look(): void {
    const { hot, edges } = this.#dependencies;
    const app = hot.findApp(this.#appId);
    if (app !== this.#app && this.#app !== null) for (const viewer of this.#viewers) viewer.lose();
    this.#app = app;
    if (app !== null) edges.check(app);
  }

  #tellIfBehind(viewer: FeedViewer): void {
    if (this.#isTelling) return;
    this.#look();
    if (viewer.cursor !== this.#end) void this.#tellAll();
  }

  #isAnyBehind(): boolean {
    for (const viewer of this.#viewers) if (isIdle(viewer) && viewer.cursor !== this.#end) return true;
    return false;
  }

  /** The position of the next change. */
  get #end(): number {
    return this.#app?.changes.end ?? 0;
  }

  async #tellAll(): Promise<void> {
    const { scheduler, pace } = this.#dependencies;
    const { restMs, restTimes } = pace;
    this.#isTelling = true;
    do {
      const leftMs = this.#dueMs - performance.now();
      await (leftMs > 0 ? new Promise((resolve) => setTimeout(resolve, leftMs)) : nextTurn());
      const begunMs = performance.now();
      await scheduler.run(this.#owner, this.#tellInSteps());
      this.#dueMs = begunMs + Math.max(restMs, restTimes * this.#spentMs);
      this.#spentMs = 0;
    } while (this.#isAnyBehind());
    this.#isTelling = false;
  }

  *#tellInSteps(): Steps<void> {
    this.#look();
    // Those that were told equally much are told the same.
    const viewers = [...this.#viewers].filter(isIdle).sort((a, b) => a.cursor - b.cursor);
    let batch: ChangeBatch | null = null;
    for (const viewer of viewers) {
      if (!viewer.isWaiting) continue; // It closed meanwhile.
      this.#tryTo(viewer, () => {
        batch = this.#tell(viewer, batch);
      });
      yield;
    }
  }

  /** What fails for one viewer does not for the others. */
  #tryTo(viewer: FeedViewer, tell: () => void): void {
    const begunMs = performance.now();
    try {
      tell();
    } catch (error) {
      viewer.fail(error);
    }
    this.#spentMs += performance.now() - begunMs;
  }

  /** Returns the changes that the viewer was told of. */
  #tell(viewer: FeedViewer, lastBatch: ChangeBatch | null): ChangeBatch | null {
    const { hot, edges } = this.#dependencies;
    const app = this.#app;
    const { cursor } = viewer;
    if (cursor < (app?.changes.first ?? 0)) this.#reset(viewer);
    if (app === null || viewer.cursor === app.changes.end) return lastBatch;
    const isSame = lastBatch?.from === cursor;
    const batch = isSame ? lastBatch : new ChangeBatch(app, cursor, hot);
    const { devices, end, sequence } = batch.select(viewer.filter, edges.nowMs(), this.#marks);
    const event = new Event(app, devices, sequence, viewer.told);
    viewer.cursor = end;
    if (event.isEmpty) viewer.toldSequence = sequence;
    else {
      viewer.event = event;
      this.#goOn(viewer, viewer.seesAll ? batch.firstParts : null);
    }
    return batch;
  }

  #reset(viewer: FeedViewer): void {
    const sequence = viewer.filter.lastSequence(this.#app);
    viewer.cursor = this.#end;
    viewer.toldSequence = sequence;
    viewer.told?.clear();
    viewer.give(viewer.writer.reset(sequence));
  }

  /** Tells the next part of the viewer's event. */
  #goOn(viewer: FeedViewer, shared: Map<EventWriter, Bytes> | null): void {
    const { event, writer } = viewer;
    if (event === null || !viewer.isWaiting) return; // It closed meanwhile.
    const part = event.nextPart();
    const bytes = shared?.get(writer) ?? writer.changes(part);
    shared?.set(writer, bytes);
    if (event.isOver) {
      viewer.event = null;
      viewer.toldSequence = event.sequence;
    }
    viewer.give(bytes);
  }
}

/** Waits to be told of what comes. */
function isIdle(viewer: FeedViewer): boolean {
  return viewer.isWaiting && viewer.event === null;
}

/**
 * The retention's edge as each app was last looked at. It moves at midnight, and when somebody sets another one; then
 * devices go from sight, or come back, and no change tells of it.
 */
export class Edges {
  readonly #dependencies: Pick<FindDependencies, "clock" | "retention">;
  readonly #lookedAtMs = new WeakMap<AppDevices, number>();

  constructor(dependencies: Pick<FindDependencies, "clock" | "retention">) {
    this.#dependencies = dependencies;
  }

  /** What is older is in no answer. */
  nowMs(): number {
    const { retention, clock } = this.#dependencies;
    return retention.startMs(clock.nowMs());
  }

  /** Has the app forget its changes where the edge has passed any of its devices since the last look. */
  check(app: AppDevices): void {
    const edgeMs = this.nowMs();
    const lastMs = this.#lookedAtMs.get(app) ?? Number.NEGATIVE_INFINITY;
    if (edgeMs === lastMs) return;
    this.#lookedAtMs.set(app, edgeMs);
    const { newestTimes, changes, touches } = app;
    if (newestTimes.countFrom(utcDayOf(lastMs)) === newestTimes.countFrom(utcDayOf(edgeMs))) return;
    changes.clear(touches.sequence);
  }
}
