import type { EventKind, VisitEnding } from "../../geofences/watch.ts";
import type { HotStore } from "../../hot/hot-store.ts";
import { messageOf } from "../../lib/message-of.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import { inOneStep } from "../../lib/schedule/steps.ts";
import { pause, type Timers } from "../../lib/schedule/timers.ts";
import type { AppId } from "../../model/ids.ts";
import type { SharedEntry } from "../../model/standing-entry.ts";
import type { EventsEntry, PublishedEvent } from "../../model/watches/events-entry.ts";
import type { DeliveriesEntry } from "../../model/webhooks/deliveries-entry.ts";
import type { SavedCursor } from "../../model/webhooks/delivery.ts";
import { isDatabaseFailure } from "../../runtime/sqlite.ts";
import type { DecidedEvents, Publication } from "./decided-events.ts";
import type { DeviceStates } from "./device-states.ts";
import type { EventStore } from "./event-store.ts";

/*
 * What the nodes of a cluster share by the log alone, on its way into the database: published events, and how far each
 * webhook is. Each entry is written once, in the order of the log, together with the position in it. So the databases
 * of all nodes say the same about these, up to that position.
 */

/** Events and deliveries that are written in one transaction, which takes some milliseconds. */
const ROWS_AT_ONCE = 64;
/** Events and deliveries that may wait for a disk that fails, some 50 MB. */
const WAITING_MAX = 100_000;
/** After a failure of the disk. */
const RETRY_MS = 1000;
/** All this work has one owner. No app has this name. */
const OWNER = "\0shared";

export interface SharedEntriesDependencies {
  readonly events: EventStore;
  readonly decided: DecidedEvents;
  readonly states: Pick<DeviceStates, "keepMark">;
  readonly hot: Pick<HotStore, "marks">;
  readonly scheduler: Scheduler;
  readonly timers: Timers;
  /** Writes what an entry says of deliveries, within a transaction. */
  writeDeliveries(entry: DeliveriesEntry, cursors: readonly SavedCursor[]): void;
  /** Called once each time the database begins to fail. */
  onNote(note: string): void;
}

interface Waiting {
  readonly entry: SharedEntry;
  readonly sequence: number;
}

export class SharedEntries {
  /** Called before a mark is kept in the database. */
  onMark: () => void = () => {};
  /** Called once another node than the one that delivers has moved webhooks. */
  onMoved = (_cursors: readonly SavedCursor[]) => {};
  /** The last entry of the log that is one of these. */
  lastSequence = 0;
  readonly #dependencies: SharedEntriesDependencies;
  readonly #waiting: Waiting[] = [];
  #waitingRows = 0;
  readonly #stopping = new AbortController();
  #writing: Promise<void> = Promise.resolve();
  #isWriting = false;
  #isStarted = false;
  /** That in the database, once it was read. Entries of the log are applied also while the database fails. */
  #position: number | null = null;
  #isFailing = false;

  constructor(dependencies: SharedEntriesDependencies) {
    this.#dependencies = dependencies;
  }

  /** Everything up to this entry of the log is in the database, or not for it. */
  get settledSequence(): number {
    return (this.#waiting[0]?.sequence ?? Infinity) - 1;
  }

  /** Whether it was not told yet where it begins. */
  get isNew(): boolean {
    return this.#storedSequence === Number.MAX_SAFE_INTEGER;
  }

  /** Tells from where the log is read. A new database begins there, and so does one that is ahead of the log. */
  begin(lastSequence: number): void {
    if (this.#storedSequence <= lastSequence) return;
    const sql = "UPDATE shared_log SET position = ?";
    this.#dependencies.events.transact(() =>
      this.#dependencies.events.database.prepare(sql).run(lastSequence),
    );
    this.#position = lastSequence;
  }

  get #storedSequence(): number {
    this.#position ??= this.#progress().position;
    return this.#position;
  }

  /** Takes an entry of the log, which is in the database soon. */
  apply(entry: SharedEntry, sequence: number): void {
    this.lastSequence = sequence;
    if (sequence <= this.#storedSequence) return;
    const rows = rowsOf(entry);
    if (this.#waitingRows + rows > WAITING_MAX) throw new Error("too much waits for the database of events");
    this.#waiting.push({ entry, sequence });
    this.#waitingRows += rows;
    if (this.#isStarted) this.#beginWriting();
    else if (this.#waitingRows >= ROWS_AT_ONCE) this.#tryWriteSome(); // A start reads many in a row.
  }

  /** The start is over. */
  start(): void {
    this.#isStarted = true;
    this.#beginWriting();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#writing;
  }

  /** Resolves once what was applied so far is in the database, or the database fails. */
  async settle(): Promise<void> {
    const { sequence = 0 } = this.#waiting.at(-1) ?? {};
    while (this.settledSequence < sequence && !this.#isFailing && !this.#stopping.signal.aborted)
      await this.#inTurn();
  }

  #beginWriting(): void {
    if (this.#isWriting) return;
    this.#isWriting = true;
    this.#writing = this.#write().finally(() => {
      this.#isWriting = false;
      if (this.#waiting.length > 0 && !this.#stopping.signal.aborted) this.#beginWriting();
    });
  }

  async #write(): Promise<void> {
    const { timers } = this.#dependencies;
    const { signal } = this.#stopping;
    while (this.#waiting.length > 0 && !signal.aborted) {
      await this.#inTurn();
      if (this.#isFailing) await pause(timers, RETRY_MS, signal);
    }
  }

  #inTurn(): Promise<void> {
    return this.#dependencies.scheduler.run(
      OWNER,
      inOneStep(() => this.#tryWriteSome()),
    );
  }

  #tryWriteSome(): void {
    try {
      this.#writeSome();
      this.#isFailing = false;
    } catch (error) {
      if (!isDatabaseFailure(error)) throw error;
      if (!this.#isFailing)
        this.#dependencies.onNote(
          `Events and deliveries wait, and are stored once this works again: ${messageOf(error)}`,
        );
      this.#isFailing = true;
    }
  }

  #writeSome(): void {
    const some = firstOf(this.#waiting);
    if (some.length === 0) return;
    const { events } = this.#dependencies;
    const moved: SavedCursor[] = [];
    const { sequence: position } = some.at(-1)!;
    events.transact(() => {
      let { term } = this.#progress();
      for (const { entry, sequence } of some) {
        if (entry.kind === "events") this.#publish(entry, sequence);
        else {
          const isCurrent = entry.term === null || entry.term >= term;
          term = Math.max(term, entry.term ?? 0);
          this.#dependencies.writeDeliveries(entry, isCurrent ? entry.cursors : []);
          if (entry.term === null) moved.push(...entry.cursors);
        }
      }
      const sql = "UPDATE shared_log SET position = ?, term = ?";
      events.database.prepare(sql).run(position, term);
    });
    this.#position = position;
    this.#waiting.splice(0, some.length);
    for (const { entry } of some) this.#waitingRows -= rowsOf(entry);
    if (moved.length > 0) this.onMoved(moved);
  }

  #publish({ appId, events }: EventsEntry, sequence: number): void {
    const { decided, states, hot } = this.#dependencies;
    for (const published of events) {
      const { deviceId, timestampMs: fromMs } = published;
      if (decided.publish(publicationOf(appId, published))) continue;
      // It may be ahead of us, or behind.
      this.onMark();
      states.keepMark({ appId, deviceId, fromMs });
      hot.marks().ofApp(appId).note(deviceId, fromMs, sequence);
    }
  }

  #progress(): { readonly position: number; readonly term: number } {
    const row = this.#dependencies.events.database.prepare("SELECT position, term FROM shared_log").find()!;
    return { position: Number(row.position), term: Number(row.term) };
  }
}

/** As many as are written at once. */
function firstOf(waiting: readonly Waiting[]): Waiting[] {
  const first: Waiting[] = [];
  let rows = 0;
  for (const each of waiting) {
    if (rows >= ROWS_AT_ONCE) break;
    first.push(each);
    rows += rowsOf(each.entry);
  }
  return first;
}

function rowsOf(entry: SharedEntry): number {
  return entry.kind === "events" ? entry.events.length : entry.cursors.length + entry.deliveries.length + 1;
}

export function publishedOf({ event, appId: _, ...revision }: Publication): PublishedEvent {
  const { decidedMs, isLate, isWithdrawn, madeMs, seq } = revision;
  const { ending, ...rest } = event;
  return {
    ...{ seq, revision: revision.revision, isWithdrawn, isLate, madeMs },
    ...rest,
    ending: ending === null ? null : { ...ending },
    decidedMs: decidedMs === Infinity ? null : decidedMs,
  };
}

function publicationOf(appId: AppId, published: PublishedEvent): Publication {
  const { seq, revision, isWithdrawn, isLate, madeMs, decidedMs, kind, ending, ...event } = published;
  return {
    ...{ appId, seq, revision, isWithdrawn, isLate, madeMs },
    decidedMs: decidedMs ?? Infinity,
    event: { ...event, kind: kind as EventKind, ending: ending as VisitEnding | null },
  };
}
