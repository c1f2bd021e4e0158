import type { Result } from "../lib/result.ts";
import { fail, ok } from "../lib/result.ts";
import type { ImportBatch } from "./reading/import-batch.ts";
import { SourceNeedsOption } from "./reading/read-sources.ts";
import { SpeedCheck, type WrongSpeeds } from "./tally/speed-check.ts";
import { Tally, type TallySoFar } from "./tally/tally.ts";

/** The result of reading all files without writing. */
export interface Survey {
  /** By group. Nothing in them counts as accepted or as a duplicate. */
  readonly tallies: readonly TallySoFar[];
  /** Points that can be used if they are not too old. */
  readonly points: number;
  /** How many of them are before the edge of the retention. */
  readonly pointsBeforeEdge: number;
  /** By source, its newest point, if it has one. */
  readonly newest: ReadonlyMap<number, NewestPoint>;
  /** Files that can't be read to their end. */
  readonly faults: readonly string[];
  readonly wrongSpeeds: readonly WrongSpeeds[];
}

export interface NewestPoint {
  /** Names the file. */
  readonly label: string;
  readonly timestampMs: number;
}

export interface SurveyOptions {
  readonly groupCount: number;
  /** The start of the retention. */
  readonly edgeMs: number;
  readonly signal: AbortSignal;
  onProgress(things: number): void;
}

/** Reads everything and writes nothing. Fails with the option that a file needs. */
export async function survey(
  batches: AsyncIterable<ImportBatch>,
  { groupCount, edgeMs, signal, onProgress }: SurveyOptions,
): Promise<Result<Survey, string>> {
  const tallies = Array.from({ length: groupCount }, () => new Tally());
  const newest = new Map<number, NewestPoint>();
  const speeds = new SpeedCheck();
  const faults: string[] = [];
  let pointsBeforeEdge = 0;
  let things = 0;
  try {
    for await (const each of batches) {
      if (signal.aborted) break;
      tallies[each.group]!.addBatch(each);
      speeds.add(each.batch);
      noteNewest(newest, each);
      for (const { origin, message } of each.faults)
        faults.push(message.includes(`"${origin.label}"`) ? message : `${origin.label}: ${message}`);
      for (const atMs of each.batch.timestampMs) if (atMs < edgeMs) pointsBeforeEdge++;
      things += each.batch.count + each.skips.length;
      onProgress(things);
    }
  } catch (error) {
    if (!(error instanceof SourceNeedsOption)) throw error;
    return fail(error.message);
  }
  return ok({
    tallies: tallies.map((tally) => tally.soFar()),
    points: tallies.reduce((sum, { points }) => sum + points, 0),
    pointsBeforeEdge,
    newest,
    faults,
    wrongSpeeds: speeds.verdicts(),
  });
}

function noteNewest(newest: Map<number, NewestPoint>, { batch, origins }: ImportBatch): void {
  for (const [index, { fromRow, origin }] of origins.entries()) {
    const endRow = origins[index + 1]?.fromRow ?? batch.count;
    let timestampMs = newest.get(origin.source)?.timestampMs ?? Number.NEGATIVE_INFINITY;
    for (let row = fromRow; row < endRow; row++) timestampMs = Math.max(timestampMs, batch.timestampMs[row]!);
    if (endRow > fromRow) newest.set(origin.source, { label: origin.label, timestampMs });
  }
}
