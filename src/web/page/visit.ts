import type { Place } from "../geo/earth.ts";

/** The parts of the page that a visit reads and moves. */
export interface VisitParts {
  readonly table: {
    readonly latitude: ArrayLike<number>;
    readonly longitude: ArrayLike<number>;
    rowOf(id: string): number | undefined;
    onChange(listener: () => void): () => void;
  };
  readonly chosen: { choose(id: string): void };
  readonly map: {
    flyTo(target: Place & { readonly zoom: number }, isAnimated: boolean): void;
    follow(isFollowing: boolean): void;
  };
  readonly sheet: { lower(): void };
}

/** Shows the streets around the device: about a kilometer across on a phone. */
const NEIGHBORHOOD_ZOOM = 14;

/**
 * Shows a visitor the one device of a share link: once the device has a position, the page chooses it, follows it from
 * close by and, on a phone, lowers the sheet. The returned function stops waiting for the position.
 */
export function beginVisit(id: string, { table, chosen, map, sheet }: VisitParts): () => void {
  const look = () => {
    const row = table.rowOf(id);
    if (row === undefined) return;
    stop();
    chosen.choose(id);
    map.flyTo(
      { latitude: table.latitude[row]!, longitude: table.longitude[row]!, zoom: NEIGHBORHOOD_ZOOM },
      false,
    );
    map.follow(true);
    sheet.lower();
  };
  const stop = table.onChange(look);
  look();
  return stop;
}
