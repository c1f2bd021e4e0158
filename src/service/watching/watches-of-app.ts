import type { HeldVersion, HeldWatch } from "../../geofences/held-watch.ts";
import type { Watch } from "../../geofences/watch.ts";
import type { WatchesOfApp } from "../../geofences/watch-store.ts";
import { createWatchVersion } from "../../geofences/watch-version.ts";
import type { AppWatches } from "./device-decision.ts";

/** What a watch was prepared from. */
interface Prepared {
  readonly watch: Watch;
  readonly current: HeldVersion;
  readonly older: readonly HeldVersion[];
  readonly deletedMs: number | null;
}

/** The fences and alerts of an app, prepared for decisions when they are first needed. */
export class PreparedWatches {
  /** With the entry of the log that changed any of them last. */
  readonly #ofApps = new WeakMap<WatchesOfApp, { readonly sequence: number; readonly watches: AppWatches }>();
  readonly #prepared = new WeakMap<HeldWatch, Prepared>();

  /** As they are at the moment. */
  of(app: WatchesOfApp | null): AppWatches {
    if (app === null) return NO_WATCHES;
    const before = this.#ofApps.get(app);
    if (before?.sequence === app.sequence) return before.watches;
    const alerts = Array.from(app.alerts.values(), (watch) => this.#prepare(watch));
    const watches: AppWatches = {
      find: (id) => {
        const watch = app.byId.get(id);
        return watch === undefined ? null : this.#prepare(watch);
      },
      visitFences: (latitude, longitude, visit) =>
        app.index.visit(latitude, longitude, ({ watch }) => visit(this.#prepare(watch))),
      alerts,
    };
    this.#ofApps.set(app, { sequence: app.sequence, watches });
    return watches;
  }

  #prepare(held: HeldWatch): Watch {
    const { appId, id, current, older, deletedMs } = held;
    const before = this.#prepared.get(held);
    if (before?.current === current && before.older === older && before.deletedMs === deletedMs)
      return before.watch;
    const versions = held.versions.map(({ terms, number, fromMs, shape }) =>
      createWatchVersion(terms, number, fromMs, shape),
    );
    const watch = { appId, id, versions, deletedMs };
    this.#prepared.set(held, { watch, current, older, deletedMs });
    return watch;
  }
}

const NO_WATCHES: AppWatches = { find: () => null, visitFences: () => {}, alerts: [] };
