import { assert } from "../lib/assert.ts";
import type { Scheduler } from "../lib/schedule/scheduler.ts";
import { compareUtf8 } from "../lib/text/utf8.ts";
import type { AppId } from "../model/ids.ts";
import { PositionSearch } from "../spatial/search.ts";
import { AppDevices } from "./app-devices.ts";
import { ChangeRing, type ChangeRoom, createChangeRoom } from "./change-ring.ts";
import type { Device } from "./devices/device.ts";
import type { Corrections } from "./hidden/corrections.ts";
import type { DayLedger } from "./late/day-ledger.ts";
import type { Dictionary } from "./records/dictionary.ts";
import { RowPages } from "./records/row-pages.ts";

const NEVER = Number.POSITIVE_INFINITY;

/** The apps that memory has devices of. */
export class Apps {
  readonly #byId = new Map<AppId, AppDevices>();
  /** The records in memory that corrections hide, of the apps that have any. */
  readonly #hiddenById = new Map<AppId, AppDevices>();
  /** The records in memory of devices that show as others, of the apps that have any. */
  readonly #aliasedById = new Map<AppId, AppDevices>();
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
    const known = this.#byId.get(appId);
    if (known !== undefined) return known;
    const app = this.#create(appId);
    app.hidden = this.findHidden(appId);
    this.#byId.set(appId, app);
    return app;
  }

  /** The app's hidden records; null if it has none. */
  findHidden(appId: AppId): AppDevices | null {
    return this.#hiddenById.get(appId) ?? null;
  }

  findOrAddHidden(appId: AppId): AppDevices {
    const known = this.#hiddenById.get(appId);
    if (known !== undefined) return known;
    const hidden = this.#create(appId);
    hidden.isHidden = true;
    this.#hiddenById.set(appId, hidden);
    const app = this.find(appId);
    if (app !== null) app.hidden = hidden;
    const aliased = this.findAliased(appId);
    if (aliased !== null) aliased.hidden = hidden;
    return hidden;
  }

  /** What devices reported that show as others; null if the app never had any. */
  findAliased(appId: AppId): AppDevices | null {
    return this.#aliasedById.get(appId) ?? null;
  }

  findOrAddAliased(appId: AppId): AppDevices {
    const known = this.#aliasedById.get(appId);
    if (known !== undefined) return known;
    const aliased = this.#create(appId);
    aliased.isAliased = true;
    aliased.hidden = this.findHidden(appId);
    this.#aliasedById.set(appId, aliased);
    return aliased;
  }

  #create(appId: AppId): AppDevices {
    const changes = new ChangeRing(appId, this.changesSince, this.#room);
    return new AppDevices(
      appId,
      this.#pages,
      this.#dictionary,
      this.#ledger,
      this.#search,
      changes,
      this.#scheduler,
    );
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

  /** All places that have an app's records: visible ones, hidden ones, and those that show as other devices'. */
  placesOf(appId: AppId): readonly AppDevices[] {
    const places = [this.find(appId), this.findHidden(appId), this.findAliased(appId)];
    return places.filter((place) => place !== null);
  }

  all(): Iterable<AppDevices> {
    return this.#byId.values();
  }

  /** The records of all apps that are in no answer: hidden, or shown as those of other devices. */
  *allUnseen(): Iterable<AppDevices> {
    yield* this.#hiddenById.values();
    yield* this.#aliasedById.values();
  }

  /** Sorted by id (UTF-8 bytes); the hidden records of an app come after its others, and aliased ones last. */
  allInOrder(): readonly AppDevices[] {
    const all = [...this.#byId.values(), ...this.allUnseen()];
    return all.sort((a, b) => compareUtf8(a.appId, b.appId));
  }

  /** Records in memory, of all apps, hidden ones included. */
  get recordCount(): number {
    let count = 0;
    for (const app of this.#byId.values()) count += app.recordCount;
    for (const app of this.allUnseen()) count += app.recordCount;
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

/** Whether a device has no record in memory, and the archive none at or after a time. */
function isForgettable(app: AppDevices, { number, recordCount, archivedNewestMs }: Device, beforeMs: number) {
  return recordCount === 0 && archivedNewestMs < beforeMs && app.archivedRows.endMs(number) <= beforeMs;
}

/**
 * Forgets devices without records in memory and with nothing newer than `beforeMs`, and apps without devices, in steps.
 */
export function* forgetDevices(
  apps: Apps,
  dictionary: Dictionary,
  corrections: Corrections,
  beforeMs: number,
): Iterable<void> {
  let looks = 0;
  const isCorrected = ({ appId }: AppDevices, { id }: Device) =>
    corrections.hiddenOf(appId, id) !== null || (corrections.find(appId)?.aliases.of(id) ?? null) !== null;
  for (const app of apps.allUnseen()) {
    for (const device of app.list.devices()) {
      if (device !== null && isForgettable(app, device, beforeMs) && !isCorrected(app, device)) {
        app.remove(device);
        looks += FORGET_LOOKS;
      }
      if (device !== null && ++looks < STEP_LOOKS) continue;
      looks = 0;
      yield;
    }
  }
  for (const app of apps.all()) {
    for (const device of app.unlistedDevices()) {
      if (isForgettable(app, device, beforeMs) && !isCorrected(app, device)) {
        app.remove(device);
        app.changes.clear(app.touches.sequence);
        looks += FORGET_LOOKS;
      }
      if (++looks < STEP_LOOKS) continue;
      looks = 0;
      dictionary.collect();
      yield;
    }
    for (const device of app.list.devices()) {
      if (device !== null && isForgettable(app, device, beforeMs)) {
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
