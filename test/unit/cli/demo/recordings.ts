import { collectRecording, type Recording } from "../../../../src/cli/demo/recording.ts";
import { numberIndex } from "../../../../src/model/location-fields.ts";
import { createReportBatchBuilder, type ReportBatch } from "../../../../src/model/report-batch.ts";

/** A position as tests write it. */
export interface Row {
  readonly deviceId: string;
  readonly timestampMs: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly speed?: number;
  readonly bearing?: number;
}

export function recordingOf(rows: readonly Row[]): Promise<Recording> {
  return collectRecording(batchesOf(rows));
}

async function* batchesOf(rows: readonly Row[]): AsyncGenerator<ReportBatch> {
  const builder = createReportBatchBuilder(rows.length);
  for (const { deviceId, timestampMs, ...numbers } of rows) {
    builder.begin();
    for (const [name, value] of Object.entries(numbers))
      builder.numbers[numberIndex(name as keyof typeof numbers)] = value;
    builder.add(builder.text(deviceId), timestampMs);
  }
  yield builder.build();
}

/** The rows of batches, as tests write them. */
export function rowsOf(batches: Iterable<ReportBatch>): Row[] {
  return [...batches].flatMap((batch) =>
    Array.from({ length: batch.count }, (_, row) => {
      const numberOf = (name: "latitude" | "longitude" | "speed" | "bearing") =>
        batch.numbers[numberIndex(name)]![row]!;
      const optional = (["speed", "bearing"] as const).flatMap((name) =>
        Number.isNaN(numberOf(name)) ? [] : [[name, numberOf(name)]],
      );
      return {
        deviceId: batch.texts[batch.device[row]!]!,
        timestampMs: batch.timestampMs[row]!,
        latitude: numberOf("latitude"),
        longitude: numberOf("longitude"),
        ...Object.fromEntries(optional),
      };
    }),
  );
}
