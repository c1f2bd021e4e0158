import type { MaybePromise } from "../lib/schedule/maybe-promise.ts";
import type { Scheduler } from "../lib/schedule/scheduler.ts";
import type { Places } from "./places.ts";
import { readPlaces } from "./read-places.ts";

/** GeoNames' cities; data/places/README.md says how the file is made. */
const FILE = import.meta.resolve("../../data/places/cities.tsv");

/** Beside apps, whose names are never empty. */
const OWNER = "";

/** Rejects where they can't be read, and tries again the next time. */
export type LoadPlaces = () => MaybePromise<Places>;

/** Reads the places when they are first asked for, once for all who wait, and keeps them. */
export function createPlacesLoader(
  readAsset: (specifier: string) => Promise<Uint8Array>,
  scheduler: Scheduler,
): LoadPlaces {
  let places: Places | null = null;
  let loading: Promise<Places> | null = null;

  async function load(): Promise<Places> {
    try {
      places = await scheduler.run(OWNER, readPlaces(await readAsset(FILE)));
      return places;
    } catch (cause) {
      throw new Error("Cannot read the names of places", { cause });
    } finally {
      loading = null;
    }
  }

  return () => {
    if (places !== null) return places;
    loading ??= load();
    return loading;
  };
}
