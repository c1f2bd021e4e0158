import type { WantedCorrection } from "../../reference/corrections.ts";
import type { WantedErasure } from "../../reference/erasures.ts";
import type { ReferenceReport } from "../../reference/records.ts";
import * as fc from "../fast-check.ts";
import { arbitraryReport, BASE_MS } from "../reports/arbitrary-reports.ts";
import { DEVICES } from "./questions.ts";

/** Steps of a service's life: what clients send, and what happens to the service. */

const DAY_MS = 86_400_000;
const STEPS_MS = [-3_600_000, -60_000, -1, 0, 1, 60_000];
const TIMES = STEPS_MS.map((stepMs) => BASE_MS + stepMs);

const SEEDS = { min: 1, max: 2 ** 30 };

/** A fault of the disk, drawn from a seed, within some operations of the disk. */
export interface DrawnFault {
  readonly seed: number;
  readonly withinOperations: number;
}

/** How a process ends; after `backup` the next one has what was restored from a backup of the directory. */
export type Ending = "close" | "kill" | "power" | "backup";

interface Circumstances {
  /** A seal runs at the same time. */
  readonly sealsMeanwhile: boolean;
  readonly fault: DrawnFault | null;
}

export type LifeStep = (
  | ({ readonly does: "report"; readonly reports: readonly ReferenceReport[] } & Circumstances)
  | ({ readonly does: "correct"; readonly wanted: WantedCorrection } & Circumstances)
  /** Hides records while they, or others, are reported. */
  | {
      readonly does: "race";
      readonly reports: readonly ReferenceReport[];
      readonly wanted: WantedCorrection;
      readonly sealsMeanwhile: boolean;
    }
  /** Undoes one of the active corrections, counted round. */
  | ({ readonly does: "undo"; readonly index: number } & Circumstances)
  | ({ readonly does: "erase"; readonly wanted: WantedErasure } & Circumstances)
  /** Two erasures at once, on two nodes if there are. */
  | { readonly does: "eraseBoth"; readonly wanted: readonly [WantedErasure, WantedErasure] }
  /** Files are rewritten without what was erased. */
  | ({ readonly does: "finish" } & Pick<Circumstances, "fault">)
  | ({ readonly does: "seal" } & Pick<Circumstances, "fault">)
  /** A node of a cluster may stay away until it has a step again. */
  | { readonly does: "restart"; readonly how: Ending; readonly staysAway: boolean }
  | { readonly does: "wait"; readonly hours: number }
) & {
  /** The node of a cluster that takes the step; drawn if it is missing. */
  readonly node?: number;
};

const report = fc
  .tuple(arbitraryReport, fc.constantFrom(...DEVICES), fc.constantFrom(...TIMES))
  .map(([any, device_id, timestamp]): ReferenceReport => ({ ...any, device_id, timestamp }));

/** One report of a record in each, so that sending them once more changes nothing. */
const reportsOf = (minLength: number, maxLength: number) =>
  fc.uniqueArray(report, {
    minLength,
    maxLength,
    selector: ({ device_id, timestamp }) => `${timestamp} ${device_id}`,
  });
const reports = reportsOf(1, 12);

const selection = fc.oneof(
  fc.record({ timestamps: fc.uniqueArray(fc.constantFrom(...TIMES), { minLength: 1, maxLength: 4 }) }),
  fc
    .tuple(
      fc.constantFrom(...TIMES),
      fc.constantFrom(1, 60_001, DAY_MS, DAY_MS),
      fc.constantFrom<Partial<WantedCorrection>>(
        ...[{}, {}, { accuracy_above: 4 }, { accuracy_above: 50 }],
        { bbox: [-72, 42, -71, 43] },
        { bbox: [170, -90, -170, 90] },
        { circle: { latitude: 42.36, longitude: -71.05, radius_meters: 200 } },
      ),
    )
    .map(([start, lengthMs, narrowed]) => ({ start, end: start + lengthMs, ...narrowed })),
);

const hide = fc
  .tuple(fc.constantFrom(...DEVICES), selection)
  .map(([device_id, selected]): WantedCorrection => ({ action: "hide", device_id, ...selected }));

const move = fc
  .tuple(
    fc.constantFrom(...DEVICES),
    fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...TIMES).map((time) => ({ timestamps: [time] })) },
      { weight: 1, arbitrary: selection },
    ),
    fc.constantFrom<Partial<WantedCorrection>>({}, {}, { horizontal_accuracy: 4 }),
    fc.constantFrom(42.3601, -42.5, 0),
  )
  .map(
    ([device_id, selected, accuracy, latitude]): WantedCorrection => ({
      ...{ action: "move", device_id, latitude, longitude: -71.0589 },
      ...selected,
      ...accuracy,
    }),
  );

const SHIFTS_MS = [-60_000, -1, 1, 60_000, 3_600_000, DAY_MS, 30 * DAY_MS];

const shift = fc.tuple(fc.constantFrom(...DEVICES), selection, fc.constantFrom(...SHIFTS_MS)).map(
  ([device_id, selected, by_ms]): WantedCorrection => ({
    ...{ action: "shift_time", device_id, by_ms },
    ...selected,
  }),
);

const assign = fc
  .tuple(
    fc.constantFrom(...DEVICES),
    selection,
    fc.constantFrom<Partial<WantedCorrection>>(
      ...[{ to_user_id: "v" }, { to_user_id: "w" }],
      ...[...DEVICES, "new"].map((to_device_id) => ({ to_device_id })),
      { to_device_id: "new", to_user_id: "u" },
    ),
  )
  .filter(([device_id, , { to_device_id }]) => device_id !== to_device_id)
  .map(
    ([device_id, selected, to]): WantedCorrection => ({ action: "assign", device_id, ...selected, ...to }),
  );

/** Assigns a whole device, past and future reports alike. */
const merge = fc
  .tuple(
    fc.constantFrom(...DEVICES),
    fc.constantFrom(...DEVICES, "new"),
    fc.constantFrom<Partial<WantedCorrection>>({}, { to_user_id: "v" }),
  )
  .filter(([device_id, to_device_id]) => device_id !== to_device_id)
  .map(
    ([device_id, to_device_id, user]): WantedCorrection => ({
      ...{ action: "assign", device_id, to_device_id },
      ...user,
    }),
  );

/** Assigns a whole device to a user alone. */
const give = fc
  .tuple(fc.constantFrom(...DEVICES), fc.constantFrom("v", "w"))
  .map(([device_id, to_user_id]): WantedCorrection => ({ action: "assign", device_id, to_user_id }));

const wanted = fc.oneof(hide, move, shift, assign, merge, give);

const erased = fc
  .tuple(
    fc.constantFrom<WantedErasure>(
      ...DEVICES.map((device_id) => ({ device_id })),
      ...["u", "v"].map((user_id) => ({ user_id })),
    ),
    fc.constantFrom<Partial<WantedErasure>>(
      {},
      { end: BASE_MS },
      { start: BASE_MS },
      { start: BASE_MS - 1, end: BASE_MS + 1 },
    ),
  )
  .map(([subject, range]): WantedErasure => ({ ...subject, ...range }));

const drawnFault = fc.record({ seed: fc.integer(SEEDS), withinOperations: fc.constantFrom(3, 12, 50) });
const fault = fc.option(drawnFault, { freq: 2 });

const circumstances = (hasFaults: boolean) => ({
  sealsMeanwhile: fc.nat(3).map((draw) => draw === 0),
  fault: hasFaults ? fault : fc.constant(null),
});

function steps(hasFaults: boolean) {
  const around = circumstances(hasFaults);
  return fc.array(
    fc.oneof(
      { weight: 2, arbitrary: fc.record({ does: fc.constant("report" as const), reports, ...around }) },
      { weight: 5, arbitrary: fc.record({ does: fc.constant("correct" as const), wanted, ...around }) },
      {
        weight: 2,
        arbitrary: fc.record({
          does: fc.constant("race" as const),
          ...{ reports, wanted: hide, sealsMeanwhile: around.sealsMeanwhile },
        }),
      },
      {
        weight: 3,
        arbitrary: fc.record({ does: fc.constant("undo" as const), index: fc.nat(8), ...around }),
      },
      { weight: 2, arbitrary: fc.record({ does: fc.constant("erase" as const), wanted: erased, ...around }) },
      {
        weight: 1,
        arbitrary: fc.record({ does: fc.constant("eraseBoth" as const), wanted: fc.tuple(erased, erased) }),
      },
      { weight: 1, arbitrary: fc.record({ does: fc.constant("finish" as const), fault: around.fault }) },
      { weight: 1, arbitrary: fc.record({ does: fc.constant("seal" as const), fault: around.fault }) },
      {
        weight: 1,
        arbitrary: fc.record({
          does: fc.constant("restart" as const),
          how: fc.constantFrom<Ending>("close", "kill", "power", "backup"),
          staysAway: fc.boolean(),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ does: fc.constant("wait" as const), hours: fc.constantFrom(6, 24) }),
      },
    ),
    { minLength: 3, maxLength: 14 },
  );
}

/** The reports that a life begins with, its steps, and the seed of what is drawn in it. */
export const arbitraryLife = fc.record({
  seed: fc.integer(SEEDS),
  first: reportsOf(8, 16),
  steps: fc.boolean().chain((hasFaults): fc.Arbitrary<LifeStep[]> => steps(hasFaults)),
});

export type ArbitraryLife = typeof arbitraryLife extends fc.Arbitrary<infer Life> ? Life : never;
