import type { AppDevices } from "../../hot/app-devices.ts";
import type { HotStore } from "../../hot/hot-store.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import { inOneStep, type Steps } from "../../lib/schedule/steps.ts";
import type { AppId } from "../../model/ids.ts";
import { utcDayOf } from "../../model/time/utc-day.ts";
import type { FindDependencies } from "../queries/find-device.ts";
import { ChangeBatch, DeviceMarks } from "./change-batch.ts";
import { Event, FeedViewer } from "./feed-viewer.ts";
import type { EventWriter, ViewerQuery } from "./live.ts";
import { type Pace, Rounds } from "./rounds.ts";
import { lastSequenceOf, startOf } from "./viewer-filter.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** The parts of a server that the feed of an app needs. */
export interface FeedDependencies {
  readonly hot: HotStore;
  readonly edges: Edges;
  readonly scheduler: Scheduler;
  readonly pace: Pace;
  /** The app has no viewers any more. */
  onEmpty(): void;
}

/** Sends the visible changes of one app to its viewers. */
export class Feed {
  readonly #appId: AppId;
  readonly #dependencies: FeedDependencies;
  readonly #owner: string;
  readonly #viewers = new Set<FeedViewer>();
  readonly #marks = new DeviceMarks();
  /** The devices at the last look; null if the app had none. */
  #app: AppDevices | null = null;
  readonly #rounds: Rounds;

  constructor(appId: AppId, dependencies: FeedDependencies) {
    this.#appId = appId;
    this.#dependencies = dependencies;
    this.#owner = `viewers of ${appId}`;
    this.#rounds = new Rounds({
      ...{ ...dependencies, owner: this.#owner },
      isAnyBehind: () => this.#isAnyBehind(),
      tellInSteps: () => this.#tellInSteps(),
    });
  }

  get viewers(): ReadonlySet<FeedViewer> {
    return this.#viewers;
  }

  open(query: ViewerQuery, writer: EventWriter): FeedViewer {
    this.#look();
    const viewer = new FeedViewer(query, writer, this.#cursorAfter(query), this.#listener);
    viewer.sentSequence = query.sinceSequence ?? viewer.filter.lastSequence(this.#app);
    this.#viewers.add(viewer);
    return viewer;
  }

  /** Something may have changed. */
  wake(): void {
    this.#look();
    this.#rounds.begin();
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

  /** Null if the changes since then are unknown. */
  #cursorAfter({ sinceSequence: sequence, view }: ViewerQuery): number | null {
    if (sequence === null) return this.#end;
    const app = this.#app;
    // A share link knows no entry that only others have changed. If it could continue from one, it could probe for
    // them.
    if (view !== null && sequence > lastSequenceOf(app, view.deviceIds, startOf(view))) return null;
    if (app === null) return sequence < this.#dependencies.hot.changesSince ? null : 0;
    // A later entry is of another log, or of this one before a restore.
    return sequence > app.touches.sequence ? null : app.changes.positionAfter(sequence);
  }

  /** Looks for what viewers can't learn from changes. */
  #look(): void {
    const { hot, edges } = this.#dependencies;
    const app = hot.findApp(this.#appId);
    if (app !== this.#app && this.#app !== null) for (const viewer of this.#viewers) viewer.lose();
    this.#app = app;
    if (app !== null) edges.check(app);
  }

  #tellIfBehind(viewer: FeedViewer): void {
    if (this.#rounds.areUnderWay) return;
    this.#look();
    if (viewer.cursor !== this.#end) this.#rounds.begin();
  }

  #isAnyBehind(): boolean {
    for (const viewer of this.#viewers) if (isIdle(viewer) && viewer.cursor !== this.#end) return true;
    return false;
  }

  /** The position of the next change. */
  get #end(): number {
    return this.#app?.changes.end ?? 0;
  }

  *#tellInSteps(): Steps<void> {
    this.#look();
    // Viewers with the same progress share their event.
    const viewers = [...this.#viewers].filter(isIdle).sort((a, b) => a.cursor - b.cursor);
    let batch: ChangeBatch | null = null;
    for (const viewer of viewers) {
      if (!viewer.isWaiting) continue; // It was closed meanwhile.
      this.#tryTo(viewer, () => {
        batch = this.#tell(viewer, batch);
      });
      yield;
    }
  }

  /** A failure for one viewer does not affect the others. */
  #tryTo(viewer: FeedViewer, tell: () => void): void {
    this.#rounds.spend(() => {
      try {
        tell();
      } catch (error) {
        viewer.fail(error);
      }
    });
  }

  /** Returns the changes that were sent. */
  #tell(viewer: FeedViewer, lastBatch: ChangeBatch | null): ChangeBatch | null {
    const { hot, edges } = this.#dependencies;
    const app = this.#app;
    const { cursor } = viewer;
    if (cursor < (app?.changes.first ?? 0)) this.#reset(viewer);
    if (app === null || viewer.cursor === app.changes.end) return lastBatch;
    const isSame = lastBatch?.from === cursor;
    const batch = isSame ? lastBatch : new ChangeBatch(app, cursor, hot);
    const selected = batch.select(viewer.filter, edges.nowMs(), this.#marks);
    const { end, sequence } = selected;
    const event = new Event(app, selected, viewer.records);
    viewer.cursor = end;
    if (event.isEmpty) viewer.sentSequence = sequence;
    else {
      viewer.event = event;
      this.#goOn(viewer, viewer.seesAll ? batch.firstParts : null);
    }
    return batch;
  }

  #reset(viewer: FeedViewer): void {
    const sequence = viewer.filter.lastSequence(this.#app);
    viewer.cursor = this.#end;
    viewer.sentSequence = sequence;
    viewer.records?.clear();
    viewer.give(viewer.writer.reset(sequence));
  }

  /** Sends the next part of the viewer's event. */
  #goOn(viewer: FeedViewer, shared: Map<EventWriter, Bytes> | null): void {
    const { event, writer } = viewer;
    if (event === null || !viewer.isWaiting) return; // It was closed meanwhile.
    const part = event.nextPart();
    const bytes = shared?.get(writer) ?? writer.changes(part);
    shared?.set(writer, bytes);
    if (event.isOver) {
      viewer.event = null;
      viewer.sentSequence = event.sequence;
    }
    viewer.give(bytes);
  }
}

/** Whether the viewer waits for a new event. */
function isIdle(viewer: FeedViewer): boolean {
  return viewer.isWaiting && viewer.event === null;
}

/**
 * The retention's edge at the last look at each app. It moves at midnight and when it is set; then devices expire or
 * come back without a change.
 */
export class Edges {
  readonly #dependencies: Pick<FindDependencies, "clock" | "retention">;
  readonly #lookedAtMs = new WeakMap<AppDevices, number>();

  constructor(dependencies: Pick<FindDependencies, "clock" | "retention">) {
    this.#dependencies = dependencies;
  }

  /** Older records are in no answer. */
  nowMs(): number {
    const { retention, clock } = this.#dependencies;
    return retention.startMs(clock.nowMs());
  }

  /** Clears the app's changes if the edge has passed any of its devices since the last look. */
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
