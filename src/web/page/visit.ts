import type { Place } from "../overlays/positions.ts";

/** What a visit looks at and moves. */
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

/** Some streets around: on a phone a kilometer from side to side. */
const NEIGHBORHOOD_ZOOM = 14;

/**
 * The visitor of a link to one device came to see where it is: once it has a position, it is chosen and followed from
 * close by, and a phone shows the map rather than the sheet. Ended by what it returns, if it has not begun by then.
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
