import type { HotStore } from "../../hot/hot-store.ts";
import { messageOf } from "../../lib/message-of.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import { inOneStep, type Steps } from "../../lib/schedule/steps.ts";
import { pause, type Timers } from "../../lib/schedule/timers.ts";
import type { Clock } from "../../model/time/clock.ts";
import type { TimeRange } from "../../model/time/range.ts";
import type { Retention } from "../../model/time/retention.ts";
import { MS_PER_DAY } from "../../model/time/units.ts";
import { isDatabaseFailure } from "../../runtime/sqlite.ts";
import { decideRecords } from "./decide-device.ts";
import type { DecidedEvents } from "./decided-events.ts";
import { DeviceDecision } from "./device-decision.ts";
import type { DeviceReader } from "./device-reader.ts";
import type { DeviceStates, MarkedDevice } from "./device-states.ts";
import type { EventStore } from "./event-store.ts";
import { MarkSpreading } from "./mark-spreading.ts";
import type { SharedEntries } from "./shared-entries.ts";
import { startBefore } from "./snapshots.ts";
import { EVENTS_AT_ONCE, inTransactions, type Taken, type Task } from "./task.ts";
import { TaskWriter } from "./task-writer.ts";
import { PreparedWatches } from "./watches-of-app.ts";

/** Records that arrive later than this make no events. */
export const LATE_MS_MAX = 31 * MS_PER_DAY;
/** Devices that are decided together. */
const DEVICES_AT_ONCE = 32;
/** After a failure of the disk, or of the archive. */
const RETRY_MS = 5000;
/** While there is much to do, the position is written this often. It costs a look at all marks. */
const POSITION_MS = 5000;
/** How many times as long as it works the watcher rests while much waits, by how far it is behind. */
const LEISURE: readonly { readonly behindMsMax: number; readonly share: number }[] = [
  { behindMsMax: 5000, share: 40 },
  { behindMsMax: 30_000, share: 3 },
];
/** Marks of a transaction, which takes some milliseconds. */
const MARKS_AT_ONCE = 256;
/** All work of the watcher has this owner, which gets its turn among the apps. No app has this name. */
const WATCHER = "\0watcher";

export interface WatcherDependencies {
  readonly hot: Pick<HotStore, "marks" | "watches" | "findApp" | "appliedSequence">;
  readonly events: EventStore;
  readonly decided: DecidedEvents;
  readonly states: DeviceStates;
  readonly reader: Pick<DeviceReader, "newestMs" | "fromMemory" | "read">;
  readonly scheduler: Scheduler;
  readonly clock: Clock;
  readonly retention: Retention;
  readonly timers: Timers;
  /** What nodes share by the log, on its way into the database; null of a single process. */
  readonly shared: Pick<SharedEntries, "start" | "stop" | "settle" | "settledSequence" | "onMark"> | null;
  /** Called once each time the database or the archive begins to fail. */
  onNote(note: string): void;
}

/** What there is to do. */
export interface WatcherBacklog {
  readonly devices: number;
  /** For how long the oldest mark has waited. */
  readonly behindMs: number;
}

/**
 * Makes events of what becomes visible, behind the acknowledgement: it takes devices that are marked, and those whose
 * next timed event is due, decides them, and writes events, states and position in one transaction. While the database
 * or the archive fails, it waits and tries again; reports are accepted all the same.
 */
export class Watcher {
  readonly #dependencies: WatcherDependencies;
  readonly #prepared = new PreparedWatches();
  readonly #spreading: MarkSpreading;
  readonly #writer: TaskWriter;
  readonly #stopping = new AbortController();
  readonly #underWay = new Set<Taken>();
  /** Marks whose records could not be read. */
  readonly #postponed = new Set<Taken>();
  #wake = () => {};
  #running: Promise<void> = Promise.resolve();
  #isFailing = false;
  /** The clock up to which timed events are made. */
  #clockMs = Number.NEGATIVE_INFINITY;
  /** Whether the database has marks. */
  #hasKept = true;
  #keptSequence: number;
  #isResting = false;
  #positionAtMs = Number.NEGATIVE_INFINITY;
  #turn = 0;

  constructor(dependencies: WatcherDependencies) {
    this.#dependencies = dependencies;
    this.#spreading = new MarkSpreading(dependencies);
    this.#writer = new TaskWriter(dependencies);
    this.#keptSequence = dependencies.events.position();
  }

  get backlog(): WatcherBacklog {
    let devices = this.#underWay.size + this.#postponed.size;
    const nowMs = performance.now();
    let sinceMs = nowMs;
    for (const [, marks] of this.#dependencies.hot.marks().apps()) {
      devices += marks.devices.size;
      for (const [, mark] of marks.devices.entries().take(1)) sinceMs = Math.min(sinceMs, mark.sinceMs);
    }
    return { devices, behindMs: nowMs - sinceMs };
  }

  /** Whether there is nothing to do. */
  get isIdle(): boolean {
    return this.#isResting && this.backlog.devices === 0;
  }

  /** Whether what it reads or writes fails at the moment. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  start(): void {
    const { hot, shared } = this.#dependencies;
    hot.marks().onNew = () => this.noteWork();
    if (shared !== null) {
      shared.onMark = () => {
        this.#hasKept = true;
      };
      shared.start();
    }
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake();
    await this.#running;
    await this.#dependencies.shared?.stop();
  }

  /** There is something to do: a mark, or the clock of timed events has moved. */
  noteWork(): void {
    this.#isResting = false;
    this.#wake();
  }

  /**
   * Keeps what is marked by now in the database, so that the log may drop its entries. Returns the sequence of the log
   * up to which all is decided or kept, also after a power failure: if the database fails, an earlier one.
   */
  async checkpoint(): Promise<number> {
    try {
      this.#keptSequence = await this.#keepMarks();
    } catch (error) {
      if (!isDatabaseFailure(error)) throw error;
      this.#noteFailure(error);
    }
    return this.#keptSequence;
  }

  async #keepMarks(): Promise<number> {
    const { hot, events, states, shared } = this.#dependencies;
    await shared?.settle();
    while (this.#spreading.isNeeded) await this.#spreading.spread(this.#stopping.signal);
    const sequence = Math.min(hot.appliedSequence, shared?.settledSequence ?? Infinity); // Later entries may mark more.
    let some: MarkedDevice[] = [];
    const keep = () => {
      this.#hasKept = true;
      for (const mark of some) states.keepMark(mark);
      some = [];
    };
    for (const [appId, { devices }] of hot.marks().apps())
      for (const [deviceId, { fromMs }] of devices) {
        some.push({ appId, deviceId, fromMs });
        if (some.length === MARKS_AT_ONCE) await this.#inTurn(() => events.transact(keep));
      }
    await this.#inTurn(() => {
      // Those that were taken meanwhile, too.
      some.push(...[...this.#underWay, ...this.#postponed].filter(({ fromMs }) => fromMs < Infinity));
      if (some.length > 0) events.transact(keep);
      events.transact(() => events.setPosition(sequence));
    });
    await events.sync();
    return sequence;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await this.#spreading.spread(signal);
        this.#take();
        if (this.#underWay.size === 0) await this.#rest();
        else await this.#decideAtLeisure();
      } catch (error) {
        if (signal.aborted) return;
        this.#putBack();
        this.#noteFailure(error);
        await pause(this.#dependencies.timers, RETRY_MS, signal);
      }
    }
  }

  /** Leaves most of the time to reports: what a device sends meanwhile is decided together. */
  async #decideAtLeisure(): Promise<void> {
    const startedMs = performance.now();
    await this.#decideTaken();
    const { behindMs, devices } = this.backlog;
    if (devices <= DEVICES_AT_ONCE) return; // Reports leave it time enough, and who waits for an event is told soon.
    const share = LEISURE.find(({ behindMsMax }) => behindMs < behindMsMax)?.share ?? 0;
    const pauseMs = share * (performance.now() - startedMs);
    if (pauseMs >= 1) await pause(this.#dependencies.timers, pauseMs, this.#stopping.signal);
  }

  /** Waits for something to do. */
  async #rest(): Promise<void> {
    this.#isResting = true;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (this.#stopping.signal.aborted) resolve();
    });
    this.#wake = () => {};
    this.#isResting = false;
  }

  #noteFailure(error: unknown): void {
    if (!this.#isFailing)
      this.#dependencies.onNote(
        `Events of geofences and alerts wait, and are made once this works again: ${messageOf(error)}`,
      );
    this.#isFailing = true;
  }

  /* What to decide */

  /** Takes some marks, apps by turns, or else devices that are due or whose marks the database has. */
  #take(): void {
    const { hot, states } = this.#dependencies;
    const apps = [...hot.marks().apps()].filter(([, { devices }]) => devices.size > 0);
    const share = Math.max(1, Math.floor(DEVICES_AT_ONCE / apps.length));
    const turns = Math.min(apps.length, DEVICES_AT_ONCE);
    for (let turn = 0; turn < turns; turn++) {
      const [appId, { devices }] = apps[(this.#turn + turn) % apps.length]!;
      for (const [deviceId, { fromMs, sequence }] of devices.entries().take(share)) {
        devices.delete(deviceId);
        this.#underWay.add({ appId, deviceId, fromMs, sequence });
      }
    }
    this.#turn += turns;
    if (this.#underWay.size > 0) return;
    const { clockMs } = hot.watches;
    const due = clockMs > this.#clockMs ? states.due(clockMs, DEVICES_AT_ONCE) : [];
    if (due.length === 0) this.#clockMs = clockMs;
    const more = due.length === 0 && this.#hasKept ? states.marks(DEVICES_AT_ONCE) : due;
    this.#hasKept &&= due.length > 0 || more.length > 0;
    for (const marked of more) this.#underWay.add({ ...marked, sequence: null });
  }

  /** Marks again what could not be decided. */
  #putBack(): void {
    for (const mark of this.#underWay) this.#markAgain(mark);
    this.#underWay.clear();
  }

  #markAgain({ appId, deviceId, fromMs, sequence }: Taken): void {
    if (sequence !== null) this.#dependencies.hot.marks().ofApp(appId).note(deviceId, fromMs, sequence);
  }

  /* Deciding */

  async #decideTaken(): Promise<void> {
    const { scheduler } = this.#dependencies;
    const tasks: Task[] = [];
    const waiting: (readonly [Task, TimeRange])[] = [];
    await scheduler.run(WATCHER, this.#begin(tasks, waiting));
    const unread = new Set<Task>();
    for (const [task, range] of waiting) if (!(await this.#readOn(task, range))) unread.add(task);
    for (const some of inTransactions(tasks.filter((task) => !unread.has(task)))) {
      for (const task of some)
        await scheduler.run(
          WATCHER,
          this.#writer.writeAhead(task, () => this.#isOvertaken(task)),
        );
      await this.#inTurn(() => this.#commit(some));
    }
    this.#isFailing = unread.size > 0;
  }

  /** Decides what memory has all records for. The others wait for those of a range. */
  *#begin(tasks: Task[], waiting: (readonly [Task, TimeRange])[]): Steps<void> {
    for (const mark of this.#underWay) {
      const task = this.#taskOf(mark);
      tasks.push(task);
      const range = yield* this.#advance(task);
      if (range !== null) waiting.push([task, range]);
      yield;
    }
  }

  #taskOf(taken: Taken): Task {
    const { states, reader, clock, retention, hot } = this.#dependencies;
    const { appId, deviceId, fromMs } = taken;
    const nowMs = clock.nowMs();
    const neededMs = nowMs - LATE_MS_MAX;
    const before = states.find(appId, deviceId);
    const isInOrder = before !== null && before.sinceMs < fromMs;
    const earlier = before === null || isInOrder ? [] : states.snapshots(appId, deviceId);
    const changedMs = fromMs === Infinity && before !== null ? before.asOfMs + 1 : fromMs;
    const start = startBefore(changedMs, before, earlier, neededMs);
    const watches = this.#prepared.of(hot.watches.find(appId));
    const decision = new DeviceDecision(deviceId, watches, start, before?.pending ?? [], neededMs);
    const { decided } = this.#dependencies;
    const { count, lastMs: cutMs } = decided.count(appId, deviceId, start.asOfMs, EVENTS_AT_ONCE);
    const range = {
      cutMs,
      startMs: start.asOfMs + 1,
      endMs: (reader.newestMs(appId, deviceId) ?? Number.NEGATIVE_INFINITY) + 1,
      oldestMs: retention.startMs(nowMs),
    };
    const asking = decideRecords(decision, deviceId, range);
    const begun = { decided: null, untilMs: Infinity, storedCount: count, records: [] };
    return { ...taken, taken, before, start, neededMs, decision, asking, ...begun };
  }

  /** Goes on with what memory has. Returns a range of which the archive has records; null at the end. */
  *#advance(task: Task): Steps<TimeRange | null> {
    const { reader } = this.#dependencies;
    for (;;) {
      const { done, value: range } = task.asking.next(task.records);
      if (done === true) {
        task.untilMs = range;
        return null;
      }
      if (range === null) {
        yield;
        continue;
      }
      const records = yield* reader.fromMemory(task.appId, task.deviceId, range);
      if (records === null) return range;
      task.records = records;
    }
  }

  /** Whether all records could be read. */
  async #readOn(task: Task, first: TimeRange): Promise<boolean> {
    const { reader, scheduler } = this.#dependencies;
    const { signal } = this.#stopping;
    for (let range: TimeRange | null = first; range !== null; ) {
      const answer = await reader.read(task.appId, task.deviceId, range, signal);
      if (!answer.ok) {
        this.#postpone(task);
        return false;
      }
      task.records = answer.value.value;
      range = await scheduler.run(WATCHER, this.#advance(task));
    }
    return true;
  }

  /** Decides a device later, without those that can be decided now waiting for it. */
  #postpone(task: Task): void {
    this.#noteFailure(new Error("archived records of a device can't be read"));
    this.#underWay.delete(task.taken);
    this.#postponed.add(task);
    this.#hasKept = false; // Its mark may be one of those, and would be taken again at once.
    this.#clockMs = this.#dependencies.hot.watches.clockMs;
    void pause(this.#dependencies.timers, RETRY_MS, this.#stopping.signal).then(() => {
      this.#postponed.delete(task);
      this.#markAgain(task);
      this.#hasKept = true;
      this.noteWork();
    });
  }

  /* Writing */

  #commit(tasks: readonly Task[]): void {
    const { events, timers } = this.#dependencies;
    const current = tasks.filter((task) => !this.#isOvertaken(task));
    const overtaken = tasks.filter((task) => !current.includes(task));
    for (const { taken } of tasks) this.#underWay.delete(taken);
    for (const task of overtaken) this.#markAgain(task);
    const nowMs = timers.nowMs();
    const isPositionDue = this.backlog.devices === 0 || nowMs - this.#positionAtMs >= POSITION_MS;
    try {
      events.transact(() => {
        for (const task of current) this.#writer.write(task, this.#hasKept);
        for (const task of current) this.#markRest(task);
        if (isPositionDue) events.setPosition(Math.max(events.position(), this.#position()));
      });
    } catch (error) {
      for (const task of current) this.#markAgain(task);
      throw error;
    }
    if (isPositionDue) this.#positionAtMs = nowMs;
  }

  /** Whether records that it has read changed meanwhile. They may even be erased, so nothing of it may be written. */
  #isOvertaken({ appId, deviceId, decision }: Task): boolean {
    const mark = this.#dependencies.hot.marks().ofApp(appId).devices.get(deviceId);
    return mark !== undefined && mark.fromMs <= decision.asOfMs;
  }

  /** Marks a device of which more records are to be decided. */
  #markRest({ appId, deviceId, sequence, untilMs }: Task): void {
    if (untilMs === Infinity) return;
    const fromMs = untilMs + 1;
    this.#markAgain({ appId, deviceId, fromMs, sequence });
    if (sequence !== null) return;
    this.#dependencies.states.keepMark({ appId, deviceId, fromMs });
    this.#hasKept = true;
  }

  /** The sequence up to which nothing is marked. */
  #position(): number {
    const { hot } = this.#dependencies;
    let first = this.#spreading.firstSequence;
    for (const { sequence } of [...this.#postponed, ...this.#underWay])
      first = Math.min(first, sequence ?? Infinity);
    for (const [, { devices, watches }] of hot.marks().apps())
      for (const marks of [devices, watches])
        for (const { sequence } of marks.values()) if (sequence < first) first = sequence;
    return Math.min(hot.appliedSequence, first - 1);
  }

  #inTurn(work: () => void): Promise<void> {
    return this.#dependencies.scheduler.run(WATCHER, inOneStep(work));
  }
}
