import { countBefore } from "../../lib/tables/sorted-numbers.ts";
import { compareUtf8 } from "../../lib/text/utf8.ts";
import { deviceOf } from "../../model/device-alias.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import { createReportBatchBuilder, type RowBatch } from "../../model/report-batch.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { nextUtcDay, type UtcDay, utcDayOf, utcDayStartMs } from "../../model/time/utc-day.ts";
import type { Corrections } from "./corrections.ts";
import type { CorrectionsOfApp } from "./held-correction.ts";
import type { Instants } from "./instants.ts";

/** Rows of a batch: about a millisecond to write as text. */
const ROWS_A_BATCH = 2048;

/** The hidden instants of an app, or of some devices and stages, as keys that a read of the archive leaves out. */
export class HiddenRows {
  readonly #appId: AppId;
  readonly #app: CorrectionsOfApp;
  readonly #deviceIds: readonly DeviceId[] | null;

  /** `deviceIds` is null for all devices of the app. */
  constructor(appId: AppId, app: CorrectionsOfApp, deviceIds: readonly DeviceId[] | null) {
    this.#appId = appId;
    this.#app = app;
    this.#deviceIds = deviceIds;
  }

  /** The keys of a range of devices whose ids come after `afterId` and not after `lastId`; null for no limit. */
  *ofDevices(range: TimeRange, afterId: DeviceId | null, lastId: DeviceId | null): Iterable<HiddenKeys> {
    for (const [stage] of this.#devices()) {
      const deviceId = deviceOf(stage);
      const isWithin =
        (afterId === null || compareUtf8(deviceId, afterId) > 0) &&
        (lastId === null || compareUtf8(deviceId, lastId) <= 0);
      const keys = isWithin ? new HiddenRows(this.#appId, this.#app, [stage]).within(range) : null;
      if (keys !== null) yield keys;
    }
  }

  /** The keys of a range as rows without values; null if there are none. */
  within({ startMs, endMs }: TimeRange): HiddenKeys | null {
    const days = new Set<UtcDay>();
    const timesOfDevices = new Map<DeviceId, Float64Array>();
    for (const [deviceId, instants] of this.#devices()) {
      const times = instants.within(startMs, endMs);
      if (times.length > 0) timesOfDevices.set(deviceId, times);
      addDays(times, days);
    }
    if (days.size === 0) return null;
    const version = ["hidden", this.#appId, startMs, endMs, ...this.#versions(startMs, endMs)].join(" ");
    return {
      days: [...days].sort((a, b) => a - b),
      batches: () => this.#batches(startMs, endMs),
      version: () => version,
      timesOf: (deviceId) => timesOfDevices.get(deviceId) ?? null,
    };
  }

  /** Versions of the devices' instants in a range. Corrections of other devices leave them as they are. */
  #versions(startMs: number, endMs: number): readonly (string | number)[] {
    if (this.#deviceIds === null) return [this.#app.number];
    return [...this.#devices()].map(([id, instants]) =>
      JSON.stringify([id, instants.versionOf(startMs, endMs)]),
    );
  }

  *#devices(): Iterable<readonly [DeviceId, Instants]> {
    const { hidden } = this.#app;
    if (this.#deviceIds === null) yield* hidden;
    else
      for (const deviceId of this.#deviceIds) {
        const instants = hidden.get(deviceId);
        if (instants !== undefined) yield [deviceId, instants];
      }
  }

  *#batches(startMs: number, endMs: number): Iterable<RowBatch> {
    let rows = createReportBatchBuilder(ROWS_A_BATCH);
    for (const [deviceId, instants] of this.#devices()) {
      const times = instants.within(startMs, endMs);
      for (let i = 0; i < times.length; i++) {
        rows.begin();
        rows.add(rows.text(deviceId), times[i]!);
        if (rows.count < ROWS_A_BATCH) continue;
        yield { ...rows.build(), fixes: null };
        rows = createReportBatchBuilder(ROWS_A_BATCH);
      }
    }
    if (rows.count > 0) yield { ...rows.build(), fixes: null };
  }
}

/** Like the late rows of a range, but with keys alone. */
export interface HiddenKeys {
  /** Days that have any, sorted. */
  readonly days: readonly UtcDay[];
  batches(): Iterable<RowBatch>;
  /** Differs whenever the keys may have changed. */
  version(): string;
  /** The instants of a device in the range, sorted; null if it has none. */
  readonly timesOf: (deviceId: DeviceId) => Float64Array | null;
}

function addDays(times: Float64Array, days: Set<UtcDay>): void {
  for (let i = 0; i < times.length; ) {
    const day = utcDayOf(times[i]!);
    days.add(day);
    i = countBefore(times, utcDayStartMs(nextUtcDay(day)));
  }
}

const ANY_TIME: TimeRange = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };

/** The hidden instants of all apps as keys, in batches. */
export function* hiddenBatches(
  corrections: Corrections,
): Iterable<{ readonly appId: AppId; readonly batch: RowBatch }> {
  for (const [appId, app] of corrections.apps()) {
    const keys = new HiddenRows(appId, app, null).within(ANY_TIME);
    for (const batch of keys?.batches() ?? []) yield { appId, batch };
  }
}
