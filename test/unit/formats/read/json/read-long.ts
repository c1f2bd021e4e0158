import { googleRecords } from "../../../../../src/formats/read/google/records.ts";
import { contentOf, readWhole } from "../../../../support/formats/read-file.ts";
import { MemoryMeter } from "../../../../support/own-process.ts";

/** Run by a test that measures its memory: reads a Records.json with very much of something before a position. */

const MEBIBYTE = 1024 * 1024;
const POSITION = '"latitudeE7":525000000,"longitudeE7":134000000,"timestamp":"2026-02-02T12:00:00Z"';

interface Long {
  readonly before: string;
  readonly piece: Uint8Array;
  readonly count: number;
  readonly behind: string;
}

/** What the script prints. */
export interface LongRead {
  readonly points: readonly unknown[];
  readonly skips: Readonly<Record<string, number>>;
  readonly error: string | null;
  readonly grownBytes: number;
}

export const LONG = {
  "a text of a gigabyte": {
    before: '{"locations":[{"blob":"',
    piece: new Uint8Array(MEBIBYTE).fill(0x78),
    count: 1024,
    behind: `",${POSITION}}]}`,
  },
  "open brackets": {
    before: '{"locations":[{"a":',
    piece: new Uint8Array(MEBIBYTE).fill(0x5b),
    count: 100,
    behind: "",
  },
  "closed brackets": {
    before: '{"locations":[{"a":',
    piece: Buffer.from("[]".repeat(1000)),
    count: 100,
    behind: `},{${POSITION}}]}`,
  },
} satisfies Record<string, Long>;

if (import.meta.main) {
  const { before, piece, count, behind } = LONG[process.argv[2] as keyof typeof LONG];
  const memory = new MemoryMeter();
  const content = {
    ...contentOf("", { name: "Records.json" }),
    async *pieces() {
      yield Buffer.from(before);
      for (let index = 0; index < count; index++) {
        memory.look();
        yield piece;
      }
      yield Buffer.from(behind);
    },
  };
  const { points, skips, error } = await readWhole(googleRecords, content);
  const read: LongRead = { points, skips, error: error?.message ?? null, grownBytes: memory.grownBytes };
  console.log(JSON.stringify(read));
}
