/** Why something that a client sent could not be used; it is kept in the quarantine under this word. */
export const REFUSAL_REASONS = [
  "bad_json",
  "unknown_shape",
  "no_position",
  "bad_coordinates",
  "null_island",
  "no_time",
  "future",
  "too_old",
  "bad_device",
  "undecryptable",
] as const;

export type RefusalReason = (typeof REFUSAL_REASONS)[number];
