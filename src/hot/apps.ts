import { assert } from "../lib/assert.ts";
import type { Scheduler } from "../lib/schedule/scheduler.ts";
import { compareUtf8 } from "../lib/text/utf8.ts";
import type { AppId } from "../model/ids.ts";
import { PositionSearch } from "../spatial/search.ts";
import { AppDevices } from "./app-devices.ts";
import { ChangeRing, type ChangeRoom, createChangeRoom } from "./change-ring.ts";
import type { DayLedger } from "./late/day-ledger.ts";
import type { Dictionary } from "./records/dictionary.ts";
import { RowPages } from "./records/row-pages.ts";

const NEVER = Number.POSITIVE_INFINITY;

/** The apps that memory has devices of. */
export class Apps {
  readonly #byId = new Map<AppId, AppDevices>();
  readonly #dictionary: Dictionary;
  readonly #ledger: DayLedger;
  readonly #scheduler: Scheduler;
  /** One search runs at a time, so all apps share it. */
  readonly #search = new PositionSearch();
  readonly #room: ChangeRoom;
  readonly #pages = new RowPages();
  /** The entry of the log up to which everything is visible. */
  visibleSequence = 0;
  /** A reader that has seen the changes of this log entry missed none since, also of an app that is unknown by now. */
  changesSince = NEVER;

  constructor(dictionary: Dictionary, ledger: DayLedger, scheduler: Scheduler, room = createChangeRoom()) {
    this.#dictionary = dictionary;
    this.#ledger = ledger;
    this.#scheduler = scheduler;
    this.#room = room;
  }

  find(appId: AppId): AppDevices | null {
    return this.#byId.get(appId) ?? null;
  }

  findOrAdd(appId: AppId): AppDevices {
    let app = this.#byId.get(appId);
    if (app === undefined) {
      const changes = new ChangeRing(appId, this.changesSince, this.#room);
      app = new AppDevices(
        appId,
        this.#pages,
        this.#dictionary,
        this.#ledger,
        this.#search,
        changes,
        this.#scheduler,
      );
      this.#byId.set(appId, app);
    }
    return app;
  }

  remove({ appId, changes }: AppDevices): void {
    changes.clear(this.visibleSequence);
    this.#byId.delete(appId);
    if (this.changesSince !== NEVER) this.changesSince = this.visibleSequence + 1;
  }

  /** Apps remember what becomes visible after this entry of the log. */
  keepChanges(sequence: number): void {
    this.visibleSequence = sequence;
    this.changesSince = sequence;
    for (const { changes, touches } of this.all()) {
      changes.clear(sequence - 1);
      touches.begin(sequence);
    }
  }

  all(): Iterable<AppDevices> {
    return this.#byId.values();
  }

  /** Sorted by id (UTF-8 bytes). */
  inOrder(): readonly AppDevices[] {
    return [...this.#byId.values()].sort((a, b) => compareUtf8(a.appId, b.appId));
  }

  /** Records in memory, of all apps. */
  get recordCount(): number {
    let count = 0;
    for (const app of this.#byId.values()) count += app.recordCount;
    return count;
  }

  get deviceCount(): number {
    let count = 0;
    for (const app of this.#byId.values()) count += app.deviceCount;
    return count;
  }
}

/** What a step may cost, counted in devices looked at, each well under a microsecond. Forgetting one costs more. */
const STEP_LOOKS = 1024;
const FORGET_LOOKS = 8;

/**
 * Forgets devices without records in memory and with nothing newer than `beforeMs`, and apps without devices, in steps.
 */
export function* forgetDevices(apps: Apps, dictionary: Dictionary, beforeMs: number): Iterable<void> {
  let looks = 0;
  for (const app of apps.all()) {
    for (const device of app.list.devices()) {
      if (device?.recordCount === 0 && device.archivedNewestMs < beforeMs) {
        app.remove(device);
        app.changes.clear(app.touches.sequence);
        looks += FORGET_LOOKS;
      }
      if (device !== null && ++looks < STEP_LOOKS) continue;
      looks = 0;
      dictionary.collect();
      yield;
    }
    if (app.deviceCount > 0) continue;
    assert(
      app.recordCount === 0 && app.users.count === 0,
      "an app without devices has neither records nor users",
    );
    apps.remove(app);
  }
  dictionary.collect();
}
