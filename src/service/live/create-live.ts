import type { AppId } from "../../model/ids.ts";
import type { QueryDependencies } from "../queries/find-device.ts";
import { Edges, Feed } from "./feed.ts";
import type { Live } from "./live.ts";
import { PACE } from "./rounds.ts";

/** A device may remain visible this long after the retention has hidden it. */
const LOOK_MS = 5000;

/** Viewers can be opened only if the hot store retains changes. */
export function createLive({ hot, clock, retention, scheduler }: QueryDependencies, pace = PACE): Live {
  const feeds = new Map<AppId, Feed>();
  const edges = new Edges({ clock, retention });
  const viewers = () => [...feeds.values()].flatMap((feed) => [...feed.viewers]);
  let looks: ReturnType<typeof setInterval> | null = null;
  let isClosed = false;

  function findOrOpen(appId: AppId): Feed {
    const known = feeds.get(appId);
    if (known !== undefined) return known;
    const feed = new Feed(appId, { hot, edges, scheduler, pace, onEmpty: () => forget(appId) });
    feeds.set(appId, feed);
    looks ??= setInterval(look, LOOK_MS);
    return feed;
  }

  function forget(appId: AppId): void {
    feeds.delete(appId);
    if (feeds.size > 0 || looks === null) return;
    clearInterval(looks);
    looks = null;
  }

  /** Devices that expire cause no change, so they are searched for. */
  function look(): void {
    for (const feed of feeds.values()) feed.wake();
  }

  hot.watchChanges((appId) => feeds.get(appId)?.wake());
  return {
    open(appId, query, writer) {
      const viewer = findOrOpen(appId).open(query, writer);
      if (isClosed) viewer.close();
      return viewer;
    },
    get viewerCount() {
      return [...feeds.values()].reduce((count, feed) => count + feed.viewers.size, 0);
    },
    look,
    close() {
      isClosed = true;
      for (const viewer of viewers()) viewer.close();
    },
  };
}
