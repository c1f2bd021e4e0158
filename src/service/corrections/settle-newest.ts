import { OneDevice } from "../../hot/scan/memory-scan.ts";
import { messageOf } from "../../lib/message-of.ts";
import { fail } from "../../lib/result.ts";
import { isOutOfDescriptors } from "../../runtime/files.ts";
import { retainedRange } from "../queries/find-device.ts";
import { createArchiveHistory } from "../queries/history/archive-history.ts";
import type { HistoryDependencies } from "../queries/history/read-stretches.ts";
import { firstOf } from "./newest-record.ts";

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
  for (const { appId, deviceId } of hot.takeInDoubt()) {
    const device = hot.findApp(appId)?.find(deviceId) ?? null;
    if (device === null) continue;
    const whose = { device, userId: null, devices: new OneDevice(device), countQueried: () => 1 };
    const range = retainedRange(dependencies, ALWAYS);
    const scan = { ...FIRST, ...whose, appId, range, originals: true, wants: "page" } as const;
    const answer = await answerFromArchive(scan, { signal }).catch((error: unknown) => {
      if (isOutOfDescriptors(error)) throw error;
      return fail(messageOf(error));
    });
    if (!answer.ok) {
      const { error } = answer;
      const reason = typeof error === "string" ? error : error.kind;
      onNote(`The newest position of ${deviceId} (app ${appId}) may be a later one: ${reason}`);
      continue;
    }
    const page = answer.value.pages.find(({ count }) => count > 0);
    const newest = page === undefined ? null : firstOf(page);
    if (newest !== null) hot.settleNewest(appId, deviceId, newest);
  }
}
