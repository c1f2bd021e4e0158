import { addPositions } from "../../hot/scan/memory-scan.ts";
import type { Result } from "../../lib/result.ts";
import type { MaybePromise } from "../../lib/schedule/maybe-promise.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { BoundingBox } from "../../model/geo/bounding-box.ts";
import type { AppId } from "../../model/ids.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { type Client, retainedRange } from "./find-device.ts";
import { archiveScans, type LateDependencies } from "./history/archive-scans.ts";
import { fromEitherStore } from "./history/either-store.ts";
import { type ArchiveDependencies, type ArchiveReading, createReadArchive } from "./history/read-archive.ts";

/*
 * Where all records of an app were made, in no order: from memory straight, from the archive with late rows laid over.
 */

export type CoordinatesDependencies = ArchiveDependencies & LateDependencies;

export interface CoordinatesQuery {
  /** What is past the retention is left out of it. */
  readonly range: TimeRange;
  /** Null for all of the world. */
  readonly box: BoundingBox | null;
}

/** What a reader makes of them. */
export interface CoordinatesReading<Value> {
  /** A record was made there, in degrees. */
  add(latitude: number, longitude: number): void;
  /** What is left to do after some thousand of them. */
  settle(): Steps<void>;
  /** What was made, once all have come. */
  readonly value: Value;
}

export interface CoordinatesAnswer<Value> {
  readonly value: Value;
  /** Whether records are missing that an operator has acknowledged as lost. */
  readonly isIncomplete: boolean;
}

/** Begins anew, with another reading, where a seal moved records meanwhile. */
export type ReadCoordinates = <Value>(
  appId: AppId,
  query: CoordinatesQuery,
  client: Client,
  begin: () => CoordinatesReading<Value>,
) => MaybePromise<Result<CoordinatesAnswer<Value>, ServiceError>>;

interface CoordinatesScan extends CoordinatesQuery {
  readonly appId: AppId;
  readonly client: Client;
}

export function createReadCoordinates(dependencies: CoordinatesDependencies): ReadCoordinates {
  const { archive, scheduler } = dependencies;
  const readArchive = createReadArchive(dependencies);

  function read<Value>(
    scan: CoordinatesScan,
    begin: () => CoordinatesReading<Value>,
  ): MaybePromise<Result<CoordinatesAnswer<Value>, ServiceError>> {
    const { appId, range, client } = scan;
    return fromEitherStore(archive, range, {
      fromMemory: () => scheduler.runAtOnce(appId, client.signal, readMemory(dependencies, scan, begin())),
      fromArchive: () =>
        readArchive(appId, range, client, async (archived) => {
          const reading = begin();
          await addSealed(dependencies, archived, scan, reading);
          return { value: reading.value, isIncomplete: archived.isIncomplete };
        }),
    });
  }

  return function readCoordinates(appId, { range, box }, client, begin) {
    return read({ appId, range: retainedRange(dependencies, range), box, client }, begin);
  };
}

function* readMemory<Value>(
  dependencies: CoordinatesDependencies,
  scan: CoordinatesScan,
  reading: CoordinatesReading<Value>,
): Steps<CoordinatesAnswer<Value>> {
  yield* addFromMemory(dependencies, scan, scan.range, reading);
  return { value: reading.value, isIncomplete: false };
}

function* addFromMemory(
  { hot }: CoordinatesDependencies,
  { appId, box }: CoordinatesScan,
  range: TimeRange,
  reading: CoordinatesReading<unknown>,
): Steps<void> {
  const app = hot.findApp(appId);
  if (app === null) return;
  const scan = hot.scan({ devices: app.all, range, userId: null, accuracyMetersMax: null });
  const sink = {
    add(_deviceId: unknown, latitude: number, longitude: number): void {
      if (box === null || box.contains(latitude, longitude)) reading.add(latitude, longitude);
    },
  };
  const adding = addPositions(scan, sink);
  for (let step = adding.next(); step.done !== true; step = adding.next()) {
    yield* reading.settle();
    yield;
  }
  yield* reading.settle();
}

async function addSealed(
  dependencies: CoordinatesDependencies,
  archived: ArchiveReading,
  scan: CoordinatesScan,
  reading: CoordinatesReading<unknown>,
): Promise<void> {
  const { appId, box, client } = scan;
  const steps = (work: Steps<void>) => dependencies.scheduler.runAtOnce(appId, client.signal, work);
  for (const stretch of archived.stretches) {
    if (stretch.kind === "memory") {
      await steps(addFromMemory(dependencies, scan, stretch.range, reading));
    } else {
      for await (const asked of archiveScans(dependencies, archived, { appId, device: null }, stretch))
        for await (const rows of archived.session.coordinates(asked, box))
          await steps(addRows(reading, rows));
    }
  }
}

/** A step of these takes some 0.1 ms. */
const STEP_ROWS = 2048;

function* addRows(
  reading: CoordinatesReading<unknown>,
  { count, latitude, longitude }: { count: number; latitude: Float64Array; longitude: Float64Array },
): Steps<void> {
  for (let row = 0; row < count; row++) {
    reading.add(latitude[row]!, longitude[row]!);
    if (row % STEP_ROWS !== STEP_ROWS - 1) continue;
    yield* reading.settle();
    yield;
  }
  yield* reading.settle();
}
