import type { Steps } from "../../lib/schedule/steps.ts";
import type { PointSink } from "../point.ts";

/** One of a long body may take 0.4 ms to parse. */
const ELEMENTS_PER_STEP = 32;

/** Reads a message's list, element by element, in steps. An empty one is a message that was understood. */
export function* readList(
  list: Iterable<unknown>,
  sink: PointSink,
  readElement: (element: unknown) => void,
): Steps<void> {
  let isEmpty = true;
  let untilStep = ELEMENTS_PER_STEP;
  for (const element of list) {
    readElement(element);
    isEmpty = false;
    if (--untilStep > 0) continue;
    untilStep = ELEMENTS_PER_STEP;
    yield;
  }
  if (isEmpty) sink.skip("empty message");
}
