import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../../../../../src/model/location-fields.ts";
import { createReportBatchBuilder, type ReportBatch } from "../../../../../src/model/report-batch.ts";
import type { Draw } from "./draw.ts";

const REPORTS_MAX = 12;

/** A batch of any reports: any doubles, any texts, in any of the fields. */
export function drawBatch(draw: Draw, reportsMax = REPORTS_MAX): ReportBatch {
  const builder = createReportBatchBuilder(reportsMax);
  const fill = (tuple: Uint32Array) => {
    if (draw.chance(2)) return;
    for (let member = 0; member < tuple.length; member++)
      if (draw.chance(2)) tuple[member] = builder.text(draw.text(30));
  };
  for (let reports = draw.upTo(reportsMax); reports > 0; reports--) {
    builder.begin();
    for (let column = 0; column < builder.numbers.length; column++)
      if (draw.chance(3)) builder.numbers[column] = draw.double();
    fill(builder.profile);
    fill(builder.state);
    builder.add(builder.text(draw.text(20)), draw.upTo(2 ** 45));
  }
  return builder.build();
}

/** A batch whose reports name their profiles so that the column of them is these bytes, as a client may. */
export function batchWith(bytes: Uint8Array): ReportBatch {
  const texts = ["", "bus", ...Array.from({ length: 256 }, (_, byte) => `profile ${byte}`)];
  const profiles = new Uint32Array(256 * PROFILE_FIELDS.length);
  for (let byte = 0; byte < 256; byte++) profiles[byte * PROFILE_FIELDS.length] = byte + 2;
  const count = bytes.length;
  return {
    count,
    texts,
    device: new Uint32Array(count).fill(1),
    timestampMs: Float64Array.from({ length: count }, (_, row) => row),
    numbers: NUMBER_FIELDS.map(() => new Float64Array(count).fill(Number.NaN)),
    profiles,
    profile: Uint32Array.from(bytes),
    states: new Uint32Array(STATE_FIELDS.length),
    state: new Uint32Array(count),
  };
}
