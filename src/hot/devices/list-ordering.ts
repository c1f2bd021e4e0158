import { inTurns, type Steps } from "../../lib/schedule/in-turns.ts";
import type { AppId } from "../../model/ids.ts";
import type { DeviceList } from "./device-list.ts";

const ALWAYS = new AbortController().signal;

/** Puts an app's lists of devices in order in turns of the event loop, whether or not anybody reads them. */
export class ListOrdering {
  readonly #appId: AppId;
  readonly #underWay = new Set<DeviceList>();

  constructor(appId: AppId) {
    this.#appId = appId;
  }

  begin(list: DeviceList): void {
    if (this.#underWay.has(list)) return;
    this.#underWay.add(list);
    void Promise.resolve(inTurns(this.#appId, ALWAYS, untilInOrder(list))).finally(() => {
      this.#underWay.delete(list);
    });
  }
}

function* untilInOrder(list: DeviceList): Steps<void> {
  for (const block of list.blocks()) {
    if (block.length > 0) return;
    yield;
  }
}
