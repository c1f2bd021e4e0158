import type { Place } from "../geo/earth.ts";
import type { ViewFacts } from "../session/session.ts";

/** The parts of the page that a visit reads and moves. */
export interface VisitParts {
  readonly table: {
    readonly size: number;
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
  /** The trails of several devices. */
  readonly trails: { use(begin: (trails: { show(ids: readonly string[]): void }) => void): void };
}

/** Shows the streets around the device: about a kilometer across on a phone. */
const NEIGHBORHOOD_ZOOM = 14;
/** The widest cell that is a neighborhood there. Wider ones are shown in the same size, from further away. */
const CELL_METERS = 250;

/**
 * Shows a visitor what a share link is about once it has a position, on a phone above a low sheet. A single device is
 * chosen, which shows its trail, and followed from close by; of several, all trails are shown. The returned function
 * stops waiting for the position.
 */
export function beginVisit(view: ViewFacts, { table, chosen, map, sheet, trails }: VisitParts): () => void {
  const [id, ...others] = view.device_ids;
  const look = () => {
    const row = id === undefined || others.length > 0 ? undefined : table.rowOf(id);
    if (table.size === 0 || (row === undefined && others.length === 0)) return;
    stop();
    if (row !== undefined) {
      chosen.choose(id!);
      const place = { latitude: table.latitude[row]!, longitude: table.longitude[row]! };
      map.flyTo({ ...place, zoom: zoomFor(view.precision_meters) }, false);
      map.follow(true);
    } else trails.use((loaded) => loaded.show(view.device_ids));
    sheet.lower();
  };
  const stop = table.onChange(look);
  look();
  return stop;
}

function zoomFor(precisionMeters: number | null): number {
  return NEIGHBORHOOD_ZOOM - Math.max(0, Math.log2((precisionMeters ?? 0) / CELL_METERS));
}
