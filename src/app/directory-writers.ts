import { appsOfLost } from "../archive/manifest.ts";
import { directoryPaths, pathsBeforeCluster } from "../directory/paths.ts";
import type { HotStore } from "../hot/hot-store.ts";
import { systemTimers } from "../lib/schedule/timers.ts";
import type { AppId, DeviceId } from "../model/ids.ts";
import { deliveriesEntry } from "../model/webhooks/deliveries-entry.ts";
import { createCorrect } from "../service/corrections/correct.ts";
import { Turns } from "../service/corrections/turns.ts";
import { createEraseElsewhere } from "../service/erasures/elsewhere.ts";
import { createErase } from "../service/erasures/erase.ts";
import { FileEraser } from "../service/erasures/file-eraser.ts";
import { LateFolds } from "../service/erasures/late-folds.ts";
import { createEditWatches } from "../service/geofences/edit-watches.ts";
import { createEditProfile } from "../service/ingest/edit-profile.ts";
import { createExactIngest } from "../service/ingest/exact-ingest.ts";
import { createIngest } from "../service/ingest/ingest.ts";
import { followLog } from "../service/ingest/memory-follower.ts";
import {
  createQuarantineAppend,
  createStandingAppend,
  type StandingAppend,
} from "../service/ingest/standing-append.ts";
import type { MessageStore } from "../service/quarantine/message-store.ts";
import { Quarantine } from "../service/quarantine/quarantine.ts";
import { createHistoryQueries } from "../service/queries/history/history.ts";
import type { GapsDependencies } from "../service/queries/history/read-archive.ts";
import { createReadPositions } from "../service/queries/positions.ts";
import { createSweeps } from "../service/upkeep/sweeps.ts";
import type { DecidedEvents } from "../service/watching/decided-events.ts";
import { EventPublisher } from "../service/watching/event-publisher.ts";
import type { SharedEntries } from "../service/watching/shared-entries.ts";
import { WatchClock } from "../service/watching/watch-clock.ts";
import type { DeliverySharing } from "../service/webhooks/delivery.ts";
import { DeliveryStore, forgetSubject } from "../service/webhooks/delivery-store.ts";
import { EventLead } from "../service/webhooks/event-lead.ts";
import { type OpenWebhooks, openWebhooks } from "../service/webhooks/open-webhooks.ts";
import { LATE_WINDOW } from "./config.ts";
import type { OpenDirectory, OpenDirectoryOptions } from "./directory.ts";

/** What appends to the log of a directory. */
export type Writers = Pick<
  OpenDirectory,
  | "ingest"
  | "exactIngest"
  | "editProfile"
  | "editWatches"
  | "webhooks"
  | "lead"
  | "watchClock"
  | "correct"
  | "erase"
  | "eraser"
  | "quarantine"
  | "sweeps"
>;

export interface WritersOptions
  extends Pick<OpenDirectory, "log" | "archive" | "schedule" | "erasures" | "recovery" | "eventStore">,
    Pick<GapsDependencies, "acknowledgedParts"> {
  readonly messages: MessageStore;
  readonly decided: DecidedEvents;
  /** Null of a single process. */
  readonly shared: SharedEntries | null;
}

export function createWriters(options: OpenDirectoryOptions, opened: WritersOptions): Writers {
  const { clock, retention, hot, events, stream, scheduler, timers = systemTimers } = options;
  const { log, archive, messages, schedule, recovery, acknowledgedParts, shared } = opened;
  const { onRefusal } = events;
  const memory = followLog({ log, hot, messages, shared, schedule, scheduler });
  const append = createStandingAppend({ log, memory, onRefusal });
  const ingest = createIngest({
    log,
    blocks: opened.erasures,
    hot,
    memory,
    schedule,
    onRefusal,
    hasWholeLog: stream === undefined && recovery.readUpTo === Number.POSITIVE_INFINITY,
  });
  const archived = {
    ...options,
    archive: () => archive,
    acknowledgedParts,
    lateWindow: LATE_WINDOW,
  };
  const exactIngest = createExactIngest({ ...archived, ingest });
  const history = createHistoryQueries(archived);
  const correcting = {
    ...archived,
    append,
    history,
    readPositions: createReadPositions(archived),
    turns: new Turns(),
  };
  const correct = createCorrect({ ...correcting, ingest });
  const lateFolds = new LateFolds({ archive, hot, foldLate: () => schedule.trySeal() });
  const quarantine = new Quarantine({
    messages,
    append: createQuarantineAppend(append),
    hasFailed: () => log.state === "failed",
    entryBytesMax: log.entryBytesMax,
    source: stream?.nodeId ?? "",
    scheduler,
    timers,
    sealSoon: () => schedule.sealSoon(),
  });
  const sweeps = createSweeps({
    ...{ quarantine, files: messages.files, clock, retention, archive, scheduler },
    events: opened.eventStore,
    onNote: events.onArchiveNote,
  });
  const watchClock = new WatchClock({ hot, append, clock, timers });
  const { webhooks, lead } = createSending(options, opened, { append, watchClock });
  return {
    ingest,
    exactIngest,
    editProfile: createEditProfile({ append, hot }),
    editWatches: createEditWatches({ append, hot, scheduler }),
    webhooks,
    lead,
    watchClock,
    correct,
    erase: createErase({ ...correcting, ledger: opened.erasures, lateFolds }),
    eraser: createEraser(options, opened, quarantine, webhooks),
    quarantine,
    sweeps,
  };
}

/** What sends events. Of a cluster, one node does at a time. */
function createSending(
  options: OpenDirectoryOptions,
  { eventStore, decided, shared }: WritersOptions,
  { append, watchClock }: { readonly append: StandingAppend; readonly watchClock: WatchClock },
): Pick<Writers, "webhooks" | "lead"> {
  const { clock, hot, timers = systemTimers, events, webhooks: parts } = options;
  const onNote = events.onArchiveNote;
  const stores = { append, hot, clock, timers, eventStore, onNote };
  if (shared === null)
    return { webhooks: parts === undefined ? null : openWebhooks(parts, stores), lead: null };
  const sharing: DeliverySharing = {
    mayDeliver: () => lead.isHere,
    async keep(term, cursors, deliveries) {
      const appended = await append(deliveriesEntry(term, cursors, deliveries));
      if (appended.ok) await shared.settle();
      return appended.ok;
    },
  };
  const webhooks = parts === undefined ? null : openWebhooks(parts, { ...stores, sharing });
  const mayPublish = () => lead.isHere;
  const publisher = new EventPublisher({
    ...{ events: eventStore, decided, append, clock, timers, mayPublish, onNote },
  });
  const delivery = webhooks?.delivery ?? null;
  shared.onMoved = (cursors) => delivery?.noteMoved(cursors);
  const lead = new EventLead({ append, shared, publisher, watchClock, delivery, timers });
  return { webhooks, lead };
}

/** What takes erased records out of the files. It works once it is started. */
function createEraser(
  options: OpenDirectoryOptions,
  opened: WritersOptions,
  quarantine: Quarantine,
  webhooks: OpenWebhooks | null,
): FileEraser {
  const { dataDir, files, hot, clock, events, access, stream } = options;
  const { forget = () => undefined, timers = systemTimers, scheduler } = options;
  const { schedule, archive, erasures: ledger } = opened;
  const { damaged: damagedDirectory, erasureReports: directory } = directoryPaths(dataDir);
  return new FileEraser({
    ...{ hot, schedule, archive, ledger, files, directory, clock, timers },
    eraseElsewhere: createEraseElsewhere({
      ...{ access, quarantine, files, damagedDirectory, forget, scheduler, timers },
      events: opened.eventStore,
      hasRecords: (appId, deviceId) => hasNewest(hot, appId, deviceId),
      dropMark: (appId, deviceId) => void hot.marks().ofApp(appId).devices.delete(deviceId),
      appsOfDamaged: (name) => appsOfLost(archive.manifest, name),
      forgetDeliveries: (erasure) =>
        webhooks?.delivery.forgetSubject(erasure) ??
        forgetSubject(new DeliveryStore(opened.eventStore.database), erasure),
      pathsBeforeCluster: stream === undefined ? [] : pathsBeforeCluster(dataDir),
    }),
    onNote: events.onArchiveNote,
  });
}

function hasNewest(hot: HotStore, appId: AppId, deviceId: DeviceId): boolean {
  return (
    (hot.findApp(appId)?.find(deviceId)?.newestMs ?? Number.NEGATIVE_INFINITY) !== Number.NEGATIVE_INFINITY
  );
}
