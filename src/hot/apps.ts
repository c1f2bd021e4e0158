import type { Scheduler } from "../lib/schedule/scheduler.ts";
import { compareUtf8 } from "../lib/text/utf8.ts";
import type { AppId } from "../model/ids.ts";
import { PositionSearch } from "../spatial/find/search.ts";
import { AppDevices } from "./app-devices.ts";
import type { DayLedger } from "./late/day-ledger.ts";
import type { Dictionary } from "./records/dictionary.ts";

/** All apps that memory knows anything of. */
export class Apps {
  readonly #byId = new Map<AppId, AppDevices>();
  readonly #dictionary: Dictionary;
  readonly #ledger: DayLedger;
  readonly #scheduler: Scheduler;
  /** One runs at a time, so one serves all apps. */
  readonly #search = new PositionSearch();

  constructor(dictionary: Dictionary, ledger: DayLedger, scheduler: Scheduler) {
    this.#dictionary = dictionary;
    this.#ledger = ledger;
    this.#scheduler = scheduler;
  }

  find(appId: AppId): AppDevices | null {
    return this.#byId.get(appId) ?? null;
  }

  findOrAdd(appId: AppId): AppDevices {
    let app = this.#byId.get(appId);
    if (app === undefined) {
      app = new AppDevices(appId, this.#dictionary, this.#ledger, this.#search, this.#scheduler);
      this.#byId.set(appId, app);
    }
    return app;
  }

  remove({ appId }: AppDevices): void {
    this.#byId.delete(appId);
  }

  all(): Iterable<AppDevices> {
    return this.#byId.values();
  }

  /** By id (UTF-8 bytes), as of now. */
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
