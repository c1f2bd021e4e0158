import type { DeviceInDoubt } from "../../hot/hidden/newest-in-doubt.ts";
import { OneDevice } from "../../hot/scan/memory-scan.ts";
import { messageOf } from "../../lib/message-of.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { isOutOfDescriptors } from "../../runtime/files.ts";
import { type Caller, retainedRange } from "../queries/find-device.ts";
import { createArchiveHistory } from "../queries/history/archive-history.ts";
import type { HistoryDependencies } from "../queries/history/read-stretches.ts";
import { findNewestArchived } from "./newest-archived.ts";
import { firstOf, withOwner } from "./newest-record.ts";

const ALWAYS = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
const FIRST = { order: "desc", offset: 0, limit: 1, accuracyMetersMax: null, withDistance: false } as const;

/**
 * Finds the newest archived records that the files and the log of a directory do not tell at a start. A device of which
 * the archive can't be read keeps the one that memory knows, and `onNote` gets the reason.
 */
export async function settleNewest(
  dependencies: HistoryDependencies,
  onNote: (note: string) => void,
): Promise<void> {
  const { hot } = dependencies;
  const answerFromArchive = createArchiveHistory(dependencies);
  const { signal } = new AbortController();
  for (const { appId, deviceId } of await settleMany(dependencies, hot.takeInDoubt(), { signal })) {
    const device = hot.findApp(appId)?.find(deviceId) ?? null;
    if (device === null) continue;
    const whose = { device, userId: null, devices: new OneDevice(device), countQueried: () => 1 };
    const range = retainedRange(dependencies, ALWAYS);
    const scan = { ...FIRST, ...whose, appId, range, originals: true, wants: "page" } as const;
    const newest = await answerFromArchive(scan, { signal })
      .then(async (answer) => {
        if (!answer.ok) return answer;
        const page = answer.value.pages.find(({ count }) => count > 0);
        const record = page === undefined ? null : firstOf(page);
        return record === null ? ok(null) : withOwner(dependencies, appId, deviceId, record, { signal });
      })
      .catch(sentenceOf);
    if (!newest.ok) {
      const { error } = newest;
      const reason = typeof error === "string" ? error : error.kind;
      onNote(`The newest position of ${deviceId} (app ${appId}) may be a later one: ${reason}`);
    } else if (newest.value !== null) hot.settleNewest(appId, deviceId, newest.value);
  }
}

function sentenceOf(error: unknown): Result<never, string> {
  if (isOutOfDescriptors(error)) throw error;
  return fail(messageOf(error));
}

/** More devices of an app in doubt than this are settled together. To ask for each takes some milliseconds. */
const SINGLE_MAX = 64;

/** Settles devices of apps that have many in doubt, and in which none shows as another. Returns the rest. */
async function settleMany(
  dependencies: HistoryDependencies,
  all: readonly DeviceInDoubt[],
  caller: Caller,
): Promise<readonly DeviceInDoubt[]> {
  const { hot } = dependencies;
  const left: DeviceInDoubt[] = [];
  for (const [appId, devices] of Map.groupBy(all, (device) => device.appId)) {
    const isMany = devices.length > SINGLE_MAX && hot.aliases(appId, null).length === 0;
    const ids = devices.map(({ deviceId }) => deviceId);
    const newest = isMany
      ? await findNewestArchived(dependencies, appId, ids, null, caller).catch(sentenceOf)
      : null;
    if (newest?.ok !== true) left.push(...devices);
    else for (const { deviceId, record } of newest.value) hot.settleNewest(appId, deviceId, record);
  }
  return left;
}
