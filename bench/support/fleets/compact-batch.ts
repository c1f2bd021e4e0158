import { PROFILE_FIELDS, STATE_FIELDS } from "../../../src/model/location-fields.ts";
import { NOT_CARRIED, type ReportBatch } from "../../../src/model/report-batch.ts";

/** Drops texts and profiles that no report of the batch names, because the log writes all that a batch has. */
export function compactBatch(batch: ReportBatch): ReportBatch {
  const texts = [""];
  const known = new Map([[NOT_CARRIED, NOT_CARRIED]]);
  const compactText = (text: number): number => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const index = texts.push(batch.texts[text]!) - 1;
    known.set(text, index);
    return index;
  };
  const compactTuples = (tuples: Uint32Array, fields: number, ofRow: Uint32Array) => {
    const chosen = new Map<number, number>();
    const tuple = ofRow.map((before) => {
      const index = chosen.get(before) ?? chosen.size;
      chosen.set(before, index);
      return index;
    });
    const members = [...chosen.keys()].flatMap((before) => [
      ...tuples.subarray(before * fields, (before + 1) * fields).map(compactText),
    ]);
    return { tuple, tuples: Uint32Array.from(members) };
  };
  const device = batch.device.map(compactText);
  const profiles = compactTuples(batch.profiles, PROFILE_FIELDS.length, batch.profile);
  const states = compactTuples(batch.states, STATE_FIELDS.length, batch.state);
  return {
    ...batch,
    texts,
    device,
    profiles: profiles.tuples,
    profile: profiles.tuple,
    states: states.tuples,
    state: states.tuple,
  };
}
