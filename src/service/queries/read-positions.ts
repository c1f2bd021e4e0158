import type { Device } from "../../hot/devices/device.ts";
import { PositionBlocks } from "../../hot/scan/position-blocks.ts";
import type { Result } from "../../lib/result.ts";
import type { MaybePromise } from "../../lib/schedule/maybe-promise.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { type Client, findDevice, retainedRange } from "./find-device.ts";
import { archiveScans, type LateDependencies } from "./history/archive-scans.ts";
import { fromEitherStore } from "./history/either-store.ts";
import { type ArchiveDependencies, type ArchiveReading, createReadArchive } from "./history/read-archive.ts";
import type {
  PositionBlock,
  PositionReading,
  PositionsAnswer,
  PositionsQuery,
  ReadPositions,
} from "./positions.ts";

/** Reads a device's records in columns: from memory straight, from the archive with late rows laid over. */

export type PositionsDependencies = ArchiveDependencies & LateDependencies;

/** Rows of the archive that are handed on at once. */
const BLOCK_ROWS = 2048;

/** What is read of one device. */
interface DeviceScan extends Pick<PositionsQuery, "fields"> {
  readonly appId: AppId;
  readonly device: Device;
  /** The query's range without what is past the retention. */
  readonly range: TimeRange;
  readonly client: Client;
}

export function createReadPositions(dependencies: PositionsDependencies): ReadPositions {
  const { archive, scheduler } = dependencies;
  const readArchive = createReadArchive(dependencies);

  function read<Value>(
    scan: DeviceScan,
    begin: () => PositionReading<Value>,
  ): MaybePromise<Result<PositionsAnswer<Value>, ServiceError>> {
    const { appId, range, client } = scan;
    return fromEitherStore(archive, range, {
      fromMemory: () => scheduler.runAtOnce(appId, client.signal, readMemory(scan, begin())),
      fromArchive: () =>
        readArchive(appId, range, client, async (reading) => {
          const value = await readSealed(dependencies, reading, scan, begin());
          return { value, isIncomplete: reading.isIncomplete };
        }),
    });
  }

  return function readPositions(appId, { deviceId, range, fields }, client, begin) {
    const found = findDevice(dependencies, appId, deviceId);
    if (!found.ok) return found;
    const { device } = found.value;
    return read({ appId, device, range: retainedRange(dependencies, range), fields, client }, begin);
  };
}

function* readMemory<Value>(
  scan: DeviceScan,
  reading: PositionReading<Value>,
): Steps<PositionsAnswer<Value>> {
  yield* addFromMemory(scan, scan.range, reading);
  return { value: yield* reading.end(), isIncomplete: false };
}

function* addFromMemory(
  { device, fields }: DeviceScan,
  range: TimeRange,
  reading: PositionReading<unknown>,
): Steps<void> {
  const blocks = new PositionBlocks(device, range, fields);
  for (let block = blocks.next(); block !== null; block = blocks.next()) yield* addBlock(reading, block);
}

async function readSealed<Value>(
  dependencies: PositionsDependencies,
  sources: ArchiveReading,
  scan: DeviceScan,
  reading: PositionReading<Value>,
): Promise<Value> {
  const { appId, client } = scan;
  const steps = <Made>(work: Steps<Made>) => dependencies.scheduler.runAtOnce(appId, client.signal, work);
  for (const stretch of sources.stretches) {
    if (stretch.kind === "memory") {
      await steps(addFromMemory(scan, stretch.range, reading));
    } else {
      for await (const archived of archiveScans(dependencies, sources, scan, stretch))
        for await (const rows of sources.session.positions(archived, scan.fields))
          await steps(addRows(reading, rows));
    }
  }
  return steps(reading.end());
}

function* addRows(reading: PositionReading<unknown>, rows: PositionBlock): Steps<void> {
  for (let from = 0; from < rows.count; from += BLOCK_ROWS) {
    const to = Math.min(rows.count, from + BLOCK_ROWS);
    yield* addBlock(reading, {
      count: to - from,
      timestampMs: rows.timestampMs.subarray(from, to),
      latitude: rows.latitude.subarray(from, to),
      longitude: rows.longitude.subarray(from, to),
      numbers: rows.numbers.map((column) => column.subarray(from, to)),
    });
  }
}

function* addBlock(reading: PositionReading<unknown>, block: PositionBlock): Steps<void> {
  reading.add(block);
  if (reading.work !== undefined) yield* reading.work();
  yield;
}
