import type { ArchiveScan } from "../../../archive/read/archive-scan.ts";
import type { Device } from "../../../hot/devices/device.ts";
import type { HotStore } from "../../../hot/hot-store.ts";
import type { AppId } from "../../../model/ids.ts";
import { partsWithin } from "./archive-window.ts";
import { type LateWindowSize, lateWindows } from "./late-windows.ts";
import type { HistoryStretch } from "./plan.ts";
import type { ArchiveReading } from "./read-archive.ts";

export interface LateDependencies {
  readonly hot: HotStore;
  readonly lateWindow: LateWindowSize;
}

/**
 * What to ask of the archive for a stretch of sealed days, oldest first, so that no more late rows than it takes lie
 * over it at once. Of one device, or of all of the app where it is null.
 */
export async function* archiveScans(
  { hot, lateWindow }: LateDependencies,
  { partsOfDay }: Pick<ArchiveReading, "partsOfDay">,
  { appId, device }: { readonly appId: AppId; readonly device: Device | null },
  { kind, range, days }: HistoryStretch,
): AsyncIterable<ArchiveScan> {
  const common = { appId, deviceId: device?.id ?? null, userId: null, accuracyMetersMax: null };
  const app = kind === "both" ? hot.findApp(appId) : null;
  if (app === null) {
    yield { ...common, range, parts: partsWithin(range, days, partsOfDay), late: null };
    return;
  }
  const windows = lateWindows(hot.lateRows(app, device), range, "asc", lateWindow);
  for await (const { range: within, late } of windows)
    yield { ...common, range: within, parts: partsWithin(within, days, partsOfDay), late };
}
