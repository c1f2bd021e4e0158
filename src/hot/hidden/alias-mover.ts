import type { AppId, DeviceId } from "../../model/ids.ts";
import type { AliasRows } from "./alias-rows.ts";
import type { AliasEffect } from "./corrections.ts";
import type { ChangedPlace, RowMover } from "./row-mover.ts";

/** Moves a device's records out of sight while they show as another's, and copies them there. */
export class AliasMover {
  readonly #mover: RowMover;
  readonly #rows: AliasRows;

  constructor(mover: RowMover, rows: AliasRows) {
    this.#mover = mover;
    this.#rows = rows;
  }

  /**
   * Performs the assignment of a device, or its undoing. `link` makes the alias valid, or invalid, as soon as no copy
   * depends on what was. Yields after some rows the device whose visible records came or went; it is to be published.
   */
  *perform({ type, appId, item, ...after }: AliasEffect, link: () => void): Iterable<ChangedPlace> {
    const { deviceId, target } = item.correction;
    const toId = target!.deviceId;
    const ids = new Set([deviceId, toId]); // One, if the device is assigned to a user alone.
    const visible = (id: DeviceId) => this.#rows.place(appId, id);
    const changed = (id: DeviceId, rows: number): ChangedPlace => ({
      ...visible(id),
      ...{ deviceId: id, rows, hasOtherNewest: false },
    });
    const copied = (id: DeviceId, rows: number) => ({ ...changed(id, rows), hasOtherNewest: true });
    if (type === "assign") {
      // Copies are made anew, since the ranks of devices may change.
      for (const id of ids) for (const rows of this.#rows.removeAll(appId, id)) yield changed(id, rows);
      this.#rows.giveBack(visible(deviceId));
      link();
      yield* this.#move(appId, deviceId, true);
      for (const rows of this.#rows.copyAll(appId, toId)) yield copied(toId, rows);
      return;
    }
    for (const rows of this.#rows.removeAll(appId, toId)) yield changed(toId, rows);
    this.#rows.giveBack(visible(toId));
    link();
    yield changed(toId, 0); // What was given back may have been its newest record.
    yield* this.#move(appId, deviceId, false);
    for (const id of ids) for (const rows of this.#rows.copyAll(appId, id)) yield copied(id, rows);
    this.#mover.setNewest(visible(deviceId), deviceId, after.newest);
    yield { ...changed(deviceId, 0), hasOtherNewest: after.newest !== null };
    this.#mover.setNewest(visible(toId), toId, after.newestOfTarget);
    yield { ...changed(toId, 0), hasOtherNewest: after.newestOfTarget !== null };
  }

  /** Puts the alias of a file, or its undoing, into a memory that has rows of corrections only. */
  restore({ type, appId, item }: AliasEffect): void {
    for (const _ of this.#move(appId, item.correction.deviceId, type === "assign"));
  }

  *#move(appId: AppId, deviceId: DeviceId, isLeaving: boolean): Iterable<ChangedPlace> {
    const visible = () => this.#rows.place(appId, deviceId);
    const aliased = () => this.#rows.aliasedPlace(appId, deviceId);
    const [from, to] = isLeaving ? [visible, aliased] : [aliased, visible];
    for (const rows of this.#mover.moveDevice(from, to))
      yield { ...visible(), deviceId, rows, hasOtherNewest: false };
  }
}
