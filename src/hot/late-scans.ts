import { stageOf } from "../model/device-alias.ts";
import type { AppId, DeviceId } from "../model/ids.ts";
import type { AppDevices } from "./app-devices.ts";
import type { Apps } from "./apps.ts";
import type { Device } from "./devices/device.ts";
import type { Aliases } from "./hidden/aliases.ts";
import type { Corrections } from "./hidden/corrections.ts";
import type { DayLedger } from "./late/day-ledger.ts";
import { JoinedLate } from "./late/joined-late.ts";
import { LateScan } from "./late/late-rows.ts";
import { LateOfApp, LateOfDevice, LateOfKeys, type LateSource } from "./late/late-sources.ts";
import type { Dictionary } from "./records/dictionary.ts";
import type { RecordKey } from "./scan/first-records.ts";

/** Where memory has late rows. */
interface LateStores {
  readonly apps: Apps;
  readonly corrections: Corrections;
  readonly ledger: DayLedger;
  readonly dictionary: Dictionary;
}

/** Scans of late rows: a part of the hot store. */
export interface LateScans {
  /**
   * The late rows of an app, or of one of its devices and those that show as it, under the names that reported, or of
   * stages.
   */
  lateRows(app: AppDevices, device: Device | null): LateScan;
  /** Like `lateRows()`, without those of devices that show as these, and without rows of corrections. */
  originalLateRows(app: AppDevices, device: Device | null): LateScan;
  /** The late rows of an app, or of one of its devices, as they were reported, whether or not they show. */
  reportedLateRows(appId: AppId, deviceId: DeviceId | null): LateScan;
  /** The late rows with these keys, in order of time, each once. */
  lateRowsAt(keys: readonly RecordKey[]): LateScan;
}

export function createLateScans(now: () => LateStores): LateScans {
  const scan = (
    sources: readonly LateSource[],
    name: readonly unknown[] | null,
    originals = false,
    idOf?: (device: Device) => DeviceId,
  ) => {
    const { ledger, dictionary } = now();
    const source = sources.length === 1 ? sources[0]! : new JoinedLate(sources);
    const version = name === null ? null : JSON.stringify(name);
    return new LateScan(source, ledger, dictionary, version, originals, idOf);
  };
  return {
    lateRows(app, device) {
      const aliased = aliasedOf(app, now());
      if (aliased === null) return scan([lateOf(app, device)], nameOf(app, device));
      const { aliases } = aliased;
      const sources = [lateOf(app, device), ...lateOfAliased(aliased, device?.id ?? null)];
      // Of a device with a stage, the visible rows are those of corrections.
      const idOf = ({ id, columns }: Device) =>
        columns === app.table.columns && aliases.hasStage(id) ? stageOf(id) : id;
      return scan(sources, [...nameOf(app, device), aliases.version], false, idOf);
    },
    originalLateRows: (app, device) =>
      scan([lateOf(app, device)], [...nameOf(app, device), "originals"], true),
    reportedLateRows(appId, deviceId) {
      const sources = now()
        .apps.placesOf(appId)
        .flatMap((place) => {
          const device = deviceId === null ? null : place.find(deviceId);
          return deviceId !== null && device === null ? [] : [lateOf(place, device)];
        });
      return scan(sources, ["reported", appId, deviceId], true);
    },
    lateRowsAt: (keys) => scan([new LateOfKeys(keys)], null),
  };
}

function nameOf({ appId, isHidden, isAliased }: AppDevices, device: Device | null): readonly unknown[] {
  return [appId, device?.id ?? null, isHidden, isAliased];
}

function lateOf(app: AppDevices, device: Device | null): LateSource {
  return device === null ? new LateOfApp(app.table, app.lateMinutes) : new LateOfDevice(device);
}

/** What devices reported that show as others. */
interface AliasedOfApp {
  readonly app: AppDevices;
  readonly aliases: Aliases;
}

/** Null if all records of the app show as reported, and for records that are in no answer. */
function aliasedOf(
  { appId, isHidden, isAliased }: AppDevices,
  { apps, corrections }: LateStores,
): AliasedOfApp | null {
  const app = isHidden || isAliased ? null : apps.findAliased(appId);
  const aliases = corrections.find(appId)?.aliases;
  return app === null || aliases === undefined || aliases.size === 0 ? null : { app, aliases };
}

function lateOfAliased({ app, aliases }: AliasedOfApp, shownId: DeviceId | null): LateSource[] {
  if (shownId === null) return [lateOf(app, null)];
  return aliases.shownAs(shownId).flatMap(({ deviceId }) => {
    const device = app.find(deviceId);
    return device === null ? [] : [lateOf(app, device)];
  });
}
