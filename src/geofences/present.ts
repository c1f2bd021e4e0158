import type { Area, Line } from "../model/watches/area.ts";
import type { AlertRules, FenceRules, WatchLook, WatchTerms } from "../model/watches/watch-rules.ts";
import type { HeldWatch } from "./held-watch.ts";

/* Fences and alerts in the words of clients. What an answer shows can be sent again. */

export type Position = readonly [longitude: number, latitude: number];

export type FenceGeometry =
  | { readonly type: "Point"; readonly coordinates: Position }
  | { readonly type: "LineString"; readonly coordinates: readonly Position[] }
  | { readonly type: "Polygon"; readonly coordinates: readonly (readonly Position[])[] }
  | { readonly type: "MultiPolygon"; readonly coordinates: readonly (readonly (readonly Position[])[])[] };

/** A fence as a GeoJSON Feature. */
export interface FenceFeature {
  readonly type: "Feature";
  readonly id: string;
  readonly geometry: FenceGeometry;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly version: number;
  /** Unix milliseconds. */
  readonly created: number;
  readonly updated: number;
}

export function presentFence(watch: HeldWatch): FenceFeature {
  const { number, terms } = watch.current;
  const { area, rules } = terms as WatchTerms & { readonly kind: "fence" };
  return {
    type: "Feature",
    id: watch.id,
    geometry: geometryOf(area),
    properties: {
      ...presentLook(watch.look),
      ...presentRules(rules),
      ...presentFenceRules(rules),
      ...(area.type === "Point" ? { radius_meters: area.radiusMeters } : {}),
      ...(area.type === "LineString" ? { buffer_meters: area.bufferMeters } : {}),
    },
    ...{ version: number, created: watch.createdMs, updated: watch.changedMs },
  };
}

export interface PresentedAlert extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly version: number;
  readonly created: number;
  readonly updated: number;
}

export function presentAlert(watch: HeldWatch): PresentedAlert {
  const { number, terms } = watch.current;
  const { type, limit, ...common } = terms.rules as AlertRules;
  return {
    id: watch.id,
    [type]: limit,
    ...presentLook(watch.look),
    ...presentRules(common),
    ...{ version: number, created: watch.createdMs, updated: watch.changedMs },
  };
}

/** Members that are not set are absent. */
function presentLook({ name, description, color, tags, metadata }: WatchLook) {
  return {
    ...(name === null ? {} : { name }),
    ...(description === null ? {} : { description }),
    ...(color === null ? {} : { color }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(metadata === null ? {} : { metadata: JSON.parse(metadata) as Record<string, unknown> }),
  };
}

function presentRules(rules: Omit<AlertRules, "type" | "limit">) {
  const { isActive, confirmSeconds, confirmations, schedule, devices, users } = rules;
  return {
    ...{ active: isActive, confirm_seconds: confirmSeconds, confirmations },
    ...(schedule === null ? {} : { schedule }),
    ...(devices === null ? {} : { devices }),
    ...(users === null ? {} : { users }),
  };
}

function presentFenceRules(rules: FenceRules) {
  const { accuracyMetersMax, exitBufferMeters, dwellSeconds, silenceMinutes, initial } = rules;
  return {
    ...{ accuracy_meters_max: accuracyMetersMax, exit_buffer_meters: exitBufferMeters, initial },
    ...(dwellSeconds === null ? {} : { dwell_seconds: dwellSeconds }),
    ...(silenceMinutes === null ? {} : { silence_minutes: silenceMinutes }),
  };
}

function geometryOf(area: Area): FenceGeometry {
  switch (area.type) {
    case "Point":
      return { type: "Point", coordinates: [area.longitude, area.latitude] };
    case "LineString":
      return { type: "LineString", coordinates: positionsOf(area.line) };
    case "Polygon":
      return { type: "Polygon", coordinates: area.polygons[0]!.map(positionsOf) };
    case "MultiPolygon":
      return { type: "MultiPolygon", coordinates: area.polygons.map((polygon) => polygon.map(positionsOf)) };
  }
}

function positionsOf(line: Line): readonly Position[] {
  return Array.from({ length: line.length / 2 }, (_, index) => [line[2 * index]!, line[2 * index + 1]!]);
}
