import { wrapped } from "../geo/bounds.ts";
import type { Position } from "../geo/earth.ts";
import type { Draft } from "../items/draft-editor.ts";
import { type DraftFault, draftFault, faultSentence } from "../items/draft-fault.ts";
import { type DraftSchedule, draftSchedule, scheduleOf } from "./draft-schedule.ts";
import type { Fence, FenceGeometry, FenceProperties, NewFence } from "./fence.ts";

/* A geofence while a user edits it. The server checks all of it, and its errors name the member. */

/** Numbers that the user types. An empty text is the server's default. */
export interface NumberField {
  readonly name: NumberName;
  readonly label: string;
  readonly unit: string;
  /** What one of the unit is in the server's. */
  readonly factor: number;
}

export type NumberName =
  | "radius_meters"
  | "buffer_meters"
  | "dwell_seconds"
  | "silence_minutes"
  | "confirm_seconds"
  | "confirmations"
  | "accuracy_meters_max"
  | "exit_buffer_meters";

const RADIUS: NumberField = { name: "radius_meters", label: "Radius", unit: "m", factor: 1 };
const BUFFER: NumberField = { name: "buffer_meters", label: "To each side", unit: "m", factor: 1 };

export const RULE_FIELDS: readonly NumberField[] = [
  { name: "dwell_seconds", label: "Tell of a stay after", unit: "min", factor: 60 },
  { name: "silence_minutes", label: "Leaves when silent for", unit: "min", factor: 1 },
];

/** They are seldom changed. */
export const FINE_FIELDS: readonly NumberField[] = [
  { name: "confirm_seconds", label: "Positions agree for", unit: "s", factor: 1 },
  { name: "confirmations", label: "Positions that agree", unit: "", factor: 1 },
  { name: "accuracy_meters_max", label: "Ignore less accurate than", unit: "m", factor: 1 },
  { name: "exit_buffer_meters", label: "Outside only beyond", unit: "m", factor: 1 },
];

const NUMBER_FIELDS: readonly NumberField[] = [RADIUS, BUFFER, ...RULE_FIELDS, ...FINE_FIELDS];

export interface FenceDraft extends Draft {
  /** Null until it is drawn. */
  readonly geometry: FenceGeometry | null;
  readonly name: string;
  readonly color: string | null;
  readonly isActive: boolean;
  /** Whether a device that is inside when its state becomes known enters. */
  readonly isInitialEvent: boolean;
  readonly numbers: Readonly<Record<NumberName, string>>;
  readonly schedule: DraftSchedule;
  /** Those that it applies to; all if it is empty. */
  readonly devices: readonly string[];
  /** The members that the form does not show. */
  readonly others: FenceProperties;
}

const NO_NUMBERS = Object.fromEntries(NUMBER_FIELDS.map(({ name }) => [name, ""])) as FenceDraft["numbers"];

export const NEW_DRAFT: FenceDraft = {
  ...{ id: null, geometry: null, name: "", color: null },
  ...{ isActive: true, isInitialEvent: false, numbers: NO_NUMBERS },
  ...{ schedule: { kind: "always" }, devices: [], others: {} },
};

export function draftOf({ id, geometry, properties }: Fence): FenceDraft {
  const { name = "", color = null, active = true, initial, schedule, devices = [], ...others } = properties;
  const numbers = { ...NO_NUMBERS };
  for (const field of NUMBER_FIELDS) {
    const value = others[field.name];
    if (typeof value === "number") numbers[field.name] = String(value / field.factor);
    delete (others as Record<string, unknown>)[field.name];
  }
  return {
    ...{ id, geometry, name, color, isActive: active, isInitialEvent: initial === "event" },
    ...{ numbers, schedule: draftSchedule(schedule), devices, others },
  };
}

/** The request's body; null until there is a shape. */
export function bodyOf(draft: FenceDraft): NewFence | null {
  const { geometry, name, color, isActive, isInitialEvent, devices, others } = draft;
  if (geometry === null) return null;
  const numbers: Record<string, number> = {};
  for (const { name: member, factor } of fieldsOf(geometry)) {
    const text = draft.numbers[member].trim();
    if (text !== "") numbers[member] = rounded(Number(text) * factor);
  }
  const schedule = scheduleOf(draft.schedule);
  return {
    type: "Feature",
    geometry,
    properties: {
      ...others,
      ...(name.trim() === "" ? {} : { name: name.trim() }),
      ...(color === null ? {} : { color }),
      ...{ active: isActive, initial: isInitialEvent ? "event" : "none" },
      ...numbers,
      ...(schedule === null ? {} : { schedule }),
      ...(devices.length === 0 ? {} : { devices }),
    },
  };
}

/** The size of a circle or a corridor; null of a polygon. */
export function extentField(geometry: FenceGeometry | null): NumberField | null {
  if (geometry?.type === "Point") return RADIUS;
  return geometry?.type === "LineString" ? BUFFER : null;
}

function fieldsOf(geometry: FenceGeometry): readonly NumberField[] {
  const extent = extentField(geometry);
  return [...(extent === null ? [] : [extent]), ...RULE_FIELDS, ...FINE_FIELDS];
}

/** 0.1 min are 6 s, and not 6.000000000000001 s. */
function rounded(value: number): number {
  return Number(value.toFixed(6));
}

/** A circle that was drawn, or whose radius was typed. */
export function withCircle(draft: FenceDraft, center: Position, radiusMeters: number): FenceDraft {
  const [longitude, latitude] = center;
  const numbers = { ...draft.numbers, radius_meters: String(Math.round(radiusMeters)) };
  return { ...draft, geometry: { type: "Point", coordinates: tidied([longitude, latitude]) }, numbers };
}

export function withPolygon(draft: FenceDraft, ring: readonly Position[]): FenceDraft {
  return { ...draft, geometry: { type: "Polygon", coordinates: [ring.map(tidied)] } };
}

/** In the range of the API, and to a centimeter. */
function tidied([longitude, latitude]: Position): Position {
  return [Number(wrapped(longitude).toFixed(7)), Number(latitude.toFixed(7))];
}

const SHOWN: readonly string[] = [
  "name",
  "color",
  "schedule",
  "devices",
  ...NUMBER_FIELDS.map(({ name }) => name),
];

/** An error of the geometry has a path that says nothing to the user. */
export function faultOf(message: string): DraftFault {
  if (!message.startsWith("geometry")) return draftFault(message, SHOWN, "properties.");
  const [, reason = message] = /^[\w.[\]]+: (.+)$/.exec(message) ?? [];
  return { member: "geometry", text: faultSentence(reason) };
}
