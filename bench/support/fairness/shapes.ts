import type { Shape } from "./shape.ts";
import { JSON_BODIES } from "./shapes/json-bodies.ts";
import { LEFT_QUESTIONS } from "./shapes/left-questions.ts";
import { PACKED_BODIES } from "./shapes/packed-bodies.ts";
import { QUESTIONS } from "./shapes/questions.ts";
import { REPORT_BODIES } from "./shapes/report-bodies.ts";
import { SLOW_BODIES } from "./shapes/slow-bodies.ts";
import { STRANGERS } from "./shapes/strangers.ts";

/** The control without an attack. */
const QUIET: Shape = {
  name: "quiet",
  title: "nothing",
  directory: "plain",
  arm: (target) => async () => {
    while (target.goesOn()) await Bun.sleep(50);
  },
};

/** All shapes, the control first. */
export const SHAPES: readonly Shape[] = [
  QUIET,
  ...PACKED_BODIES,
  ...JSON_BODIES,
  ...REPORT_BODIES,
  ...SLOW_BODIES,
  ...QUESTIONS,
  ...LEFT_QUESTIONS,
  ...STRANGERS,
];

export const CONTROL = QUIET.name;

export function findShape(name: string): Shape {
  const shape = SHAPES.find((each) => each.name === name);
  if (shape === undefined) throw new Error(`there is no shape ${name}`);
  return shape;
}
