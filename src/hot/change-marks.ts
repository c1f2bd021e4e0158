import type { WatchStore } from "../geofences/watch-store.ts";
import type { AppId, DeviceId } from "../model/ids.ts";
import type { WatchEntry } from "../model/watches/watch-entry.ts";

/** What is to be decided anew. */
export interface Mark {
  /** The earliest instant of what changed. */
  fromMs: number;
  /** The first entry of the log that changed it. */
  sequence: number;
  /** When it was made, by `performance.now()`. */
  readonly sinceMs: number;
}

/** What changed in an app, in the order of the entries that did it first. */
export class MarksOfApp {
  readonly devices = new Map<DeviceId, Mark>();
  /** By id: fences and alerts that got a version, or were deleted. */
  readonly watches = new Map<string, Mark>();
  readonly #onNew: () => void;

  constructor(onNew: () => void) {
    this.#onNew = onNew;
  }

  /** Notes a record that came, changed or went. */
  note(deviceId: DeviceId, fromMs: number, sequence: number): void {
    this.#add(this.devices, deviceId, fromMs, sequence);
  }

  noteWatch(id: string, fromMs: number, sequence: number): void {
    this.#add(this.watches, id, fromMs, sequence);
  }

  #add<Id extends string>(marks: Map<Id, Mark>, id: Id, fromMs: number, sequence: number): void {
    const known = marks.get(id);
    if (known === undefined) {
      marks.set(id, { fromMs, sequence, sinceMs: performance.now() });
      this.#onNew();
      return;
    }
    // What could not be decided is marked again, perhaps after a later entry has marked it.
    known.fromMs = Math.min(known.fromMs, fromMs);
    known.sequence = Math.min(known.sequence, sequence);
  }
}

/**
 * Which devices have records that fences and alerts have not seen as they are now: a number for each such device,
 * however many of its records came or changed. An app without fences and alerts has none.
 */
export class ChangeMarks {
  readonly #watches: WatchStore;
  readonly #byApp = new Map<AppId, MarksOfApp>();
  /** Entries of the log up to this one are decided. */
  decidedSequence: number;
  /** Called whenever something is marked that was not, or the clock of timed events has moved. */
  onNew = () => {};

  /** Nothing is marked before it is told from where. */
  constructor(watches: WatchStore, decidedSequence = Number.MAX_SAFE_INTEGER) {
    this.#watches = watches;
    this.decidedSequence = decidedSequence;
  }

  /** Where to note what an entry of the log changes; null if nothing is to be decided about it. */
  of(appId: AppId, sequence: number): MarksOfApp | null {
    if (sequence <= this.decidedSequence || (this.#watches.find(appId)?.byId.size ?? 0) === 0) return null;
    return this.ofApp(appId);
  }

  noteWatch({ appId, id, atMs }: WatchEntry, sequence: number): void {
    if (sequence > this.decidedSequence) this.ofApp(appId).noteWatch(id, atMs, sequence);
  }

  apps(): IteratorObject<readonly [AppId, MarksOfApp]> {
    return this.#byApp.entries();
  }

  ofApp(appId: AppId): MarksOfApp {
    let marks = this.#byApp.get(appId);
    if (marks === undefined) {
      marks = new MarksOfApp(() => this.onNew());
      this.#byApp.set(appId, marks);
    }
    return marks;
  }
}
