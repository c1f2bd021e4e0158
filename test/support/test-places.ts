import { Scheduler } from "../../src/lib/schedule/scheduler.ts";
import { createPlacesLoader } from "../../src/map/read-places.ts";

/** The places of the project, read once for all tests of a process. */
export const loadTestPlaces = createPlacesLoader(
  (specifier) => Bun.file(new URL(specifier)).bytes(),
  new Scheduler(),
);
