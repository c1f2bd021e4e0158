import type { HotStore } from "../../../src/hot/hot-store.ts";
import { profileAt, stateAt } from "../../../src/hot/records/chunk.ts";
import { ANONYMOUS } from "../../../src/model/ids.ts";
import { PROFILE_FIELDS, STATE_FIELDS } from "../../../src/model/location-fields.ts";

/** The texts that the rows of a store refer to, found by a full scan: exactly what its dictionary should hold. */
export function namedByRows(hot: HotStore): HotStore["dictionary"]["sizes"] {
  const profiles = new Set<number>();
  const states = new Set<number>();
  for (const app of hot.apps()) {
    for (const device of app.list) {
      device.runs(0, device.recordCount, (chunk, rowFrom, rowTo) => {
        for (let row = rowFrom; row < rowTo; row++) {
          profiles.add(profileAt(chunk, row));
          states.add(stateAt(chunk, row));
        }
      });
      if (device.archivedNewestMs === Number.NEGATIVE_INFINITY) continue;
      const { chunk, row } = app.archivedRows.at(device.number);
      profiles.add(profileAt(chunk, row));
      states.add(stateAt(chunk, row));
    }
  }
  const { edition } = hot.dictionary;
  const texts = new Set<string | null>([ANONYMOUS, null]);
  for (const profile of profiles) {
    for (let m = 0; m < PROFILE_FIELDS.length; m++) texts.add(edition.profileText(profile, m));
  }
  for (const state of states) {
    for (let m = 0; m < STATE_FIELDS.length; m++) texts.add(edition.stateText(state, m));
  }
  return { texts: texts.size - 1, profiles: profiles.size, states: states.size };
}
