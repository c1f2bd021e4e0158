import type { Steps } from "../../lib/schedule/steps.ts";

/** One of a long body may take 0.4 ms to parse. */
const ELEMENTS_PER_STEP = 32;

/** Reads a message's list, element by element, in steps. */
export function* readList(list: Iterable<unknown>, readElement: (element: unknown) => void): Steps<void> {
  let untilStep = ELEMENTS_PER_STEP;
  for (const element of list) {
    readElement(element);
    if (--untilStep > 0) continue;
    untilStep = ELEMENTS_PER_STEP;
    yield;
  }
}
