import { measureAcknowledged } from "../../support/corrections/acknowledge.ts";
import { measureBeside } from "../../support/corrections/beside-corrections.ts";
import { measureBesideShown } from "../../support/corrections/beside-shown.ts";
import { measureHold } from "../../support/corrections/hold.ts";
import { measureMemory } from "../../support/corrections/memory.ts";
import type { Bench } from "../../support/run/bench.ts";

const PARTS = {
  acknowledge: measureAcknowledged,
  hold: measureHold,
  beside: measureBeside,
  shown: measureBesideShown,
  memory: measureMemory,
};

export const bench: Bench = {
  question:
    "what a correction costs: until it is acknowledged, of the event loop, of other answers and of memory, against the same without it",
  sizes: {
    devices: {
      help: "devices that report every minute of an archived day and of yesterday",
      smoke: 4,
      full: 50,
    },
    dayMinutes: { help: "minutes of a day that are reported", smoke: 120, full: 1440 },
    hidden: { help: "records that one correction hides", smoke: 100, full: 1000 },
    dense: { help: "records of the largest correction", smoke: 2000, full: 100_000 },
    rounds: { help: "times that each is hidden or asked for", smoke: 2, full: 30 },
    launches: { help: "servers whose first request is a correction", smoke: 1, full: 7 },
    holdRounds: { help: "times that the largest correction is made and undone", smoke: 1, full: 5 },
    corrections: { help: "active corrections beside which is asked", smoke: 20, full: 1000 },
    memoryRecords: { help: "corrected records whose memory is measured", smoke: 4000, full: 1_000_000 },
    memoryCorrections: { help: "corrections of them", smoke: 40, full: 10_000 },
    memoryDevices: { help: "devices of them", smoke: 4, full: 1000 },
    settleMs: { help: "pause after each garbage collection, ms", smoke: 1, full: 200 },
    memoryRuns: { help: "processes that measure each", smoke: 1, full: 3 },
    seed: { help: "of the fleet", smoke: 35, full: 35 },
  },
  choices: {
    part: { help: "what is measured", values: Object.keys(PARTS) },
  },
  async run(run) {
    for (const name of run.chosen("part")) await PARTS[name as keyof typeof PARTS](run);
  },
};
