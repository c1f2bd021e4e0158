import { PROFILE_FIELDS, STATE_FIELDS } from "./location-fields.ts";
import type { RecordPage } from "./record-page.ts";

/** The same page with its texts in a dictionary of its own, for an answer that has to wait for the rest of it. */
export function lastingPage(page: RecordPage): RecordPage {
  const { count, dictionary } = page;
  const profiles = new Map<number, readonly (string | null)[]>();
  const states = new Map<number, readonly (string | null)[]>();
  for (let row = 0; row < count; row++) {
    const [profile, state] = [page.profile[row]!, page.state[row]!];
    if (!profiles.has(profile)) {
      profiles.set(
        profile,
        PROFILE_FIELDS.map((_, member) => dictionary.profileText(profile, member)),
      );
    }
    if (!states.has(state)) {
      states.set(
        state,
        STATE_FIELDS.map((_, member) => dictionary.stateText(state, member)),
      );
    }
  }
  return {
    ...page,
    dictionary: {
      profileText: (profile, member) => profiles.get(profile)![member]!,
      stateText: (state, member) => states.get(state)![member]!,
    },
  };
}
