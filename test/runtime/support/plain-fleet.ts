/** A report as it goes over the wire. */
export interface PlainReport {
  readonly device_id: string;
  readonly timestamp: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly user_id?: string;
  readonly horizontal_accuracy?: number;
  readonly [member: string]: string | number | boolean | undefined;
}

export interface PlainRecord extends PlainReport {
  readonly user_id: string;
}

/** What an app should know: every record of every device in an array, found by plain loops. */
export interface PlainFleet {
  readonly appId: string;
  /** In order of their ids' UTF-8 bytes. */
  deviceIds(): readonly string[];
  /** Oldest first; none for an unknown device. */
  recordsOf(deviceId: string): readonly PlainRecord[];
  /** All of them, by time and then by device. */
  records(): readonly PlainRecord[];
  apply(reports: readonly PlainReport[]): void;
}

export function createPlainFleet(appId: string): PlainFleet {
  const tracks = new Map<string, PlainRecord[]>();
  let deviceIds: readonly string[] | null = null;
  let records: readonly PlainRecord[] | null = null;

  function apply(report: PlainReport): void {
    let track = tracks.get(report.device_id);
    if (track === undefined) {
      track = [];
      tracks.set(report.device_id, track);
      deviceIds = null;
    }
    let place = track.length;
    while (place > 0 && track[place - 1]!.timestamp > report.timestamp) place--;
    const known = track[place - 1];
    if (known?.timestamp === report.timestamp) track[place - 1] = { ...known, ...report };
    else track.splice(place, 0, { user_id: "ANONYMOUS", ...report });
  }

  const fleet: PlainFleet = {
    appId,
    deviceIds() {
      deviceIds ??= [...tracks.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      return deviceIds;
    },
    recordsOf: (deviceId) => tracks.get(deviceId) ?? [],
    records() {
      // The sort is stable: what is in order of devices stays so where times are equal.
      records ??= fleet
        .deviceIds()
        .flatMap((deviceId) => tracks.get(deviceId)!)
        .sort((a, b) => a.timestamp - b.timestamp);
      return records;
    },
    apply(reports) {
      for (const report of reports) apply(report);
      records = null;
    },
  };
  return fleet;
}
