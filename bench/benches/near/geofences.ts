import { BoxIndex } from "../../../src/geofences/box-index.ts";
import { createShape, type Shape } from "../../../src/geofences/shape.ts";
import { assert } from "../../../src/lib/assert.ts";
import { createFenceCity, FENCES_A_SITE, type FenceCity } from "../../support/fences/fence-city.ts";
import { measureFenceMemory } from "../../support/fences/fence-memory.ts";
import { median } from "../../support/figures/report.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";
import { processorMicros } from "../../support/run/processor-time.ts";

const MICROS_A_SECOND = 1e6;
const REPORTS_PER_SECOND_MIN = 300_000;
const MEMORY_MB_MAX = 150;

export const bench: Bench = {
  question: "how many reports a second are matched against geofences, and what do geofences take in memory?",
  sizes: {
    fences: { help: "fences of an app", smoke: 300, full: 100_000 },
    corners: { help: "vertices of each", smoke: 12, full: 12 },
    reports: { help: "reports of a round", smoke: 500, full: 300_000 },
    scanned: {
      help: "of them that the control takes, which looks at the box of each fence",
      smoke: 50,
      full: 300,
    },
    rounds: { help: "rounds", smoke: 1, full: 7 },
    settleMs: { help: "pause after each of some garbage collections", smoke: 1, full: 200 },
    memoryRuns: { help: "measurements of memory, each in a process of its own", smoke: 1, full: 3 },
    seed: { help: "of fences and reports", smoke: 1, full: 1 },
  },
  async run(run) {
    const city = createFenceCity(
      run.size("fences"),
      run.size("corners"),
      run.size("reports"),
      run.size("seed"),
    );
    const shapes = city.areas.map(createShape);
    const index = new BoxIndex<Shape>();
    for (const shape of shapes) index.add(shape);
    checkBoxes(city, index);
    race(run, city, shapes, index);
    for (const isStart of [false, true]) {
      const how = isStart ? "after a start" : "after an import";
      const options = { fences: run.size("fences"), corners: run.size("corners"), seed: run.size("seed") };
      const megabytes: number[] = [];
      for (let i = 0; i < run.size("memoryRuns"); i++)
        megabytes.push(await measureFenceMemory({ ...options, isStart, settleMs: run.size("settleMs") }));
      run.figures([{ name: `memory of the fences ${how}`, unit: "MB", runs: megabytes }]);
      run.verdict(`memory ${how}`, median(megabytes), "MB", run.isSmoke ? {} : { atMost: MEMORY_MB_MAX });
    }
  },
};

function checkBoxes({ latitudes, longitudes }: FenceCity, index: BoxIndex<Shape>): void {
  for (let report = 0; report < latitudes.length; report++) {
    let count = 0;
    index.visit(latitudes[report]!, longitudes[report]!, () => count++);
    assert(count <= FENCES_A_SITE, "boxes are of one site");
  }
}

type Visit = (latitude: number, longitude: number, visit: (shape: Shape) => void) => void;

/** Which fences each report is in, and how far from their borders; by processor time, of one core. */
function race(
  run: BenchRun,
  { latitudes, longitudes }: FenceCity,
  shapes: readonly Shape[],
  index: BoxIndex<Shape>,
): void {
  const scanned = Math.min(run.size("scanned"), latitudes.length);
  const boxes = shapes.map((shape) => shape.boxes);
  const find: Visit = (latitude, longitude, visit) => index.visit(latitude, longitude, visit);
  const scan: Visit = (latitude, longitude, visit) => {
    for (let fence = 0; fence < shapes.length; fence++)
      for (const box of boxes[fence]!)
        if (
          latitude >= box.minLatitude &&
          latitude <= box.maxLatitude &&
          longitude >= box.minLongitude &&
          longitude <= box.maxLongitude
        )
          visit(shapes[fence]!);
  };
  const time = (candidates: Visit, reports: number, measure: (shape: Shape, report: number) => number) => {
    let [visits, sum] = [0, 0];
    const startedMicros = processorMicros();
    for (let report = 0; report < reports; report++)
      candidates(latitudes[report]!, longitudes[report]!, (shape) => {
        visits++;
        sum += measure(shape, report);
      });
    const perSecond = (reports * MICROS_A_SECOND) / (processorMicros() - startedMicros);
    return { perSecond, answer: `${visits} boxes, ${sum.toFixed(3)}` };
  };
  const isInside = (shape: Shape, report: number) =>
    shape.contains(latitudes[report]!, longitudes[report]!) ? 1 : 0;
  const meters = (shape: Shape, report: number) =>
    shape.distanceMeters(latitudes[report]!, longitudes[report]!);
  const runs = { boxes: [], matched: [], measured: [], scanned: [] } as Record<string, number[]>;
  for (let round = 0; round < run.size("rounds"); round++) {
    const scannedRound = time(scan, scanned, isInside);
    assert(scannedRound.answer === time(find, scanned, isInside).answer, "the scan finds the same");
    runs.scanned!.push(scannedRound.perSecond);
    runs.boxes!.push(time(find, latitudes.length, () => 0).perSecond);
    runs.matched!.push(time(find, latitudes.length, isInside).perSecond);
    runs.measured!.push(time(find, latitudes.length, meters).perSecond);
  }
  const figure = (name: string, of: string) => ({ name, unit: "reports/s", runs: runs[of]! });
  const [matched, byScan] = [
    figure("inside or not", "matched"),
    figure("the same by a scan of all boxes", "scanned"),
  ];
  run.figures([
    matched,
    byScan,
    figure("boxes alone", "boxes"),
    figure("meters from the borders", "measured"),
  ]);
  run.ratio("times as fast as the scan", matched, byScan);
  const bound = run.isSmoke ? {} : { atLeast: REPORTS_PER_SECOND_MIN };
  run.verdict("matched", median(runs.matched!), "reports/s", bound);
}
