import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { AppId } from "../../model/ids.ts";
import type { DeviceList } from "./device-list.ts";

/** Puts an app's lists of devices in order in turns of the event loop, whether or not anybody reads them. */
export class ListOrdering {
  readonly #appId: AppId;
  readonly #scheduler: Scheduler;
  readonly #underWay = new Set<DeviceList>();

  constructor(appId: AppId, scheduler: Scheduler) {
    this.#appId = appId;
    this.#scheduler = scheduler;
  }

  begin(list: DeviceList): void {
    if (this.#underWay.has(list)) return;
    this.#underWay.add(list);
    void this.#scheduler.runAtOnce(this.#appId, null, this.#putInOrder(list));
  }

  *#putInOrder(list: DeviceList): Steps<void> {
    for (const block of list.blocks()) {
      if (block.length > 0) break;
      yield;
    }
    this.#underWay.delete(list); // Here and not when it is heard of: what is gone until then may be the last of all.
  }
}
