/** What tests make parts with. */
export const PART_MAKER = new URL("../../../../../src/app/part-maker.ts", import.meta.url);

export const SMALL_DATABASE = {
  threads: 1,
  memoryBytes: 100_000_000,
  directories: [],
  spillDirectory: null,
  cachesFiles: false,
};

/** Of who is never broken off. */
export const NEVER = new AbortController().signal;

/** It would run for an hour. */
export const ENDLESS = "SELECT count(*)::DOUBLE FROM range(100000000000)";
