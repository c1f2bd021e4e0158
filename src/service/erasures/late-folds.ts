import type { Archive } from "../../archive/archive.ts";
import type { HotStore } from "../../hot/hot-store.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { type ServiceError, unavailable } from "../../model/errors.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import { nextUtcDay, type UtcDay, utcDayName, utcDayStartMs } from "../../model/time/utc-day.ts";
import type { SealReport } from "../upkeep/seal/seal.ts";

/* Late rows of a user's devices are archived before the user is erased. */

export interface LateFoldsDependencies {
  readonly archive: Pick<Archive, "isWritten">;
  readonly hot: Pick<HotStore, "daysInMemory" | "reportedLateRows">;
  /** Moves late rows into the archive; null if that failed. */
  readonly foldLate: () => Promise<Pick<SealReport, "blocked"> | null>;
}

/** Finds the devices that have records of the user. */
export type FindDevices = () => Promise<Result<readonly DeviceId[], ServiceError>>;

/** Seals of an app within `FOLDS_MS`: late reports may come during each. */
const FOLDS_MAX = 3;
const FOLDS_MS = 60_000;

/**
 * Lays late rows over the archive's records before a user is erased. Until then a record whose parts name two users
 * has one part in memory and one in a file, and each part alone would be another user's. Only late rows of the user's
 * devices cause seals, and not many in a row.
 */
export class LateFolds {
  readonly #dependencies: LateFoldsDependencies;
  /** When each app's last seals began, Unix ms. */
  readonly #begunMs = new Map<AppId, readonly number[]>();

  constructor(dependencies: LateFoldsDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Resolves once memory has no late rows of the devices, except of days whose files are damaged, and the disk has the
   * manifest that memory goes by.
   */
  async foldAll(appId: AppId, findDevices: FindDevices, nowMs: number): Promise<Result<void, ServiceError>> {
    const { archive, foldLate } = this.#dependencies;
    let blocked: readonly string[] = [];
    for (;;) {
      // The disk may have a manifest by which more is late than memory knows.
      const hasLate = archive.isWritten ? await this.#hasLate(appId, findDevices, blocked) : ok(true);
      if (!hasLate.ok) return hasLate;
      if (!hasLate.value) return ok(undefined);
      // A clock that was set back does not refuse for longer.
      const begunMs = (this.#begunMs.get(appId) ?? []).filter((ms) => Math.abs(nowMs - ms) < FOLDS_MS);
      if (begunMs.length >= FOLDS_MAX)
        return fail(
          unavailable(
            "late reports of the user's devices come all the time: nothing was erased",
            RETRY_SECONDS,
          ),
        );
      this.#begunMs.set(appId, [...begunMs, nowMs]);
      const sealed = await foldLate();
      if (sealed === null)
        return fail(unavailable("late reports can't be archived now: nothing was erased", RETRY_SECONDS));
      ({ blocked } = sealed);
    }
  }

  /** Whether memory has late rows of any of the devices, but for some days. */
  async #hasLate(
    appId: AppId,
    findDevices: FindDevices,
    exceptDays: readonly string[],
  ): Promise<Result<boolean, ServiceError>> {
    const late = await this.#lateDevices(appId, exceptDays);
    if (late.size === 0) return ok(false);
    const devices = await findDevices();
    return devices.ok ? ok(devices.value.some((deviceId) => late.has(deviceId))) : devices;
  }

  /** The devices of an app of which memory has late rows, but for some days. */
  async #lateDevices(appId: AppId, exceptDays: readonly string[]): Promise<ReadonlySet<DeviceId>> {
    const { hot } = this.#dependencies;
    const devices = new Set<DeviceId>();
    for (const { day, isSealed, records } of hot.daysInMemory())
      if (isSealed && records > 0 && !exceptDays.includes(utcDayName(day)))
        await hot.reportedLateRows(appId, null).addDevices(rangeOf(day), devices);
    return devices;
  }
}

const RETRY_SECONDS = FOLDS_MS / 1000;

function rangeOf(day: UtcDay) {
  return { startMs: utcDayStartMs(day), endMs: utcDayStartMs(nextUtcDay(day)) };
}
