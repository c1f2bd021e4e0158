import type { Position } from "../geo/earth.ts";

/* Geofences as the server has them, and the events that they make. */

export type FenceGeometry =
  | { readonly type: "Point"; readonly coordinates: Position }
  | { readonly type: "LineString"; readonly coordinates: readonly Position[] }
  | { readonly type: "Polygon"; readonly coordinates: readonly (readonly Position[])[] }
  | { readonly type: "MultiPolygon"; readonly coordinates: readonly (readonly (readonly Position[])[])[] };

/** The page stores members that it does not know again as they are. */
export interface FenceProperties extends Readonly<Record<string, unknown>> {
  readonly name?: string;
  readonly description?: string;
  readonly color?: string;
  readonly tags?: readonly string[];
  readonly active?: boolean;
  /** Only circles have it. */
  readonly radius_meters?: number;
  /** Only corridors have it. */
  readonly buffer_meters?: number;
  readonly accuracy_meters_max?: number;
  readonly exit_buffer_meters?: number;
  readonly confirm_seconds?: number;
  readonly confirmations?: number;
  readonly dwell_seconds?: number;
  readonly silence_minutes?: number;
  readonly initial?: "none" | "event";
  readonly schedule?: FenceSchedule;
  readonly devices?: readonly string[];
  readonly users?: readonly string[];
}

export interface FenceSchedule {
  readonly timezone: string;
  readonly weekly: readonly {
    readonly days: readonly string[];
    readonly from: string;
    readonly to: string;
  }[];
  readonly except?: readonly string[];
}

/** What a geofence is made of. */
export interface NewFence {
  readonly type: "Feature";
  readonly geometry: FenceGeometry;
  readonly properties: FenceProperties;
}

export interface Fence extends NewFence {
  readonly id: string;
  /** When it was changed last, Unix ms. */
  readonly updated: number;
}

/** `GET /api/v1/geofences`. */
export interface FencesAnswer {
  readonly geofences: readonly Fence[];
  readonly pagination: { readonly has_more: boolean; readonly total_count: number };
}

export type EventKind = "enter" | "exit" | "dwell" | "alert_start" | "alert_end";

/** An event of a geofence, or of an alert. */
export interface FenceEvent {
  /** A preview has neither this nor a revision. */
  readonly id?: string;
  readonly revision?: number;
  /** Whether it turned out not to have happened. */
  readonly withdrawn?: true;
  readonly kind: EventKind;
  /** Unix ms, as the other times. */
  readonly timestamp: number;
  readonly device_id: string;
  readonly visit_id: string;
  /** What made it; a preview does not say it. */
  readonly fence_id?: string;
  readonly alert_id?: string;
  /** Only exits have it, if an event began the visit. */
  readonly entered_at?: number;
  readonly duration_seconds?: number;
  readonly reason?: string;
}

export const FENCES_PATH = "/api/v1/geofences";

/** What the page calls a geofence. */
export function nameOf({ properties: { name } }: Pick<Fence, "properties">): string {
  return name ?? "Geofence without a name";
}
