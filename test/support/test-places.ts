import { Scheduler } from "../../src/lib/schedule/scheduler.ts";
import { createPlacesLoader } from "../../src/map/read-places.ts";

/** Loads the project's places, once per test process. */
export const loadTestPlaces = createPlacesLoader(
  (specifier) => Bun.file(new URL(specifier)).bytes(),
  new Scheduler(),
);
