import type { Results } from "../../../bench/support/figures/results.ts";

/** A small results file with one of everything. */
export const sampleResults: Results = {
  bench: "sample",
  question: "does it work?",
  date: "2026-11-21T12:00:00.000Z",
  isSmoke: false,
  machine: {
    processor: "Z80",
    cores: 1,
    memoryBytes: 65536,
    system: "CP/M 2.2",
    runtime: "Bun 1.4.5",
  },
  sizes: { devices: 200_000, seed: 1 },
  figures: [
    { name: "ours", unit: "ms", runs: [2, 3, 1, 2.5, 1.5] },
    { name: "control", unit: "ms", runs: [4, 6, 2, 5, 3] },
    { name: "rate", unit: "reports/s", runs: [10, 11, 12, 13, 14] },
    { name: "memory", unit: "bytes/record", runs: [70, 71, 72, 73, 74] },
  ],
  ratios: [
    {
      name: "times the control",
      ours: "ours",
      control: "control",
      unit: "ms",
      runs: [0.5, 0.51, 0.52, 0.49, 0.48],
      bound: { atMost: 0.6 },
      isReached: true,
    },
  ],
  verdicts: [{ name: "ours", value: 2, unit: "ms", bound: { atMost: 1 }, isReached: false }],
  notes: ["a note"],
};
