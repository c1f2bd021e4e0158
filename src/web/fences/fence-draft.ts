import { wrapped } from "../geo/bounds.ts";
import type { Position } from "../geo/earth.ts";
import type { Fence, FenceGeometry, FenceProperties, FenceSchedule, NewFence } from "./fence.ts";

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

export const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

/** When it is in force: always, in the same hours of some weekdays, or as another program has set it. */
export type DraftSchedule =
  | { readonly kind: "always" }
  | {
      readonly kind: "weekly";
      readonly timezone: string;
      readonly days: readonly string[];
      readonly from: string;
      readonly to: string;
    }
  | { readonly kind: "other"; readonly schedule: FenceSchedule };

export interface FenceDraft {
  /** Null of a new one. */
  readonly id: string | null;
  /** Null until it is drawn. */
  readonly geometry: FenceGeometry | null;
  readonly name: string;
  readonly color: string | null;
  readonly isActive: boolean;
  /** Whether a device that is inside when its state becomes known enters. */
  readonly isInitialEvent: boolean;
  readonly numbers: Readonly<Record<NumberName, string>>;
  readonly schedule: DraftSchedule;
  /** The members that the form does not show. */
  readonly others: FenceProperties;
}

const NO_NUMBERS = Object.fromEntries(NUMBER_FIELDS.map(({ name }) => [name, ""])) as FenceDraft["numbers"];

export const NEW_DRAFT: FenceDraft = {
  ...{ id: null, geometry: null, name: "", color: null },
  ...{ isActive: true, isInitialEvent: false, numbers: NO_NUMBERS },
  ...{ schedule: { kind: "always" }, others: {} },
};

export function draftOf({ id, geometry, properties }: Fence): FenceDraft {
  const { name = "", color = null, active = true, initial, schedule, ...others } = properties;
  const numbers = { ...NO_NUMBERS };
  for (const field of NUMBER_FIELDS) {
    const value = others[field.name];
    if (typeof value === "number") numbers[field.name] = String(value / field.factor);
    delete (others as Record<string, unknown>)[field.name];
  }
  return {
    ...{ id, geometry, name, color, isActive: active, isInitialEvent: initial === "event" },
    ...{ numbers, schedule: draftSchedule(schedule), others },
  };
}

function draftSchedule(schedule: FenceSchedule | undefined): DraftSchedule {
  if (schedule === undefined) return { kind: "always" };
  const { timezone, weekly, except = [] } = schedule;
  const [hours, ...others] = weekly;
  if (hours === undefined || others.length > 0 || except.length > 0) return { kind: "other", schedule };
  return { kind: "weekly", timezone, ...hours };
}

/** The request's body; null until there is a shape. */
export function bodyOf(draft: FenceDraft): NewFence | null {
  const { geometry, name, color, isActive, isInitialEvent, others } = draft;
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
    },
  };
}

function scheduleOf(schedule: DraftSchedule): FenceSchedule | null {
  switch (schedule.kind) {
    case "always":
      return null;
    case "weekly": {
      const { timezone, days, from, to } = schedule;
      return { timezone, weekly: [{ days, from, to }] };
    }
    case "other":
      return schedule.schedule;
  }
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

/** An error of the server, beside the member of the form that it names. */
export interface DraftFault {
  /** `geometry`, or the name of a property; null if it names none that the form has. */
  readonly member: string | null;
  readonly text: string;
}

const SHOWN: readonly string[] = ["name", "color", "schedule", ...NUMBER_FIELDS.map(({ name }) => name)];

/** `properties.radius_meters must be a number, 10 to 100,000` is of the radius. */
export function faultOf(message: string): DraftFault {
  const [path = ""] = /^[\w.[\]]+/.exec(message) ?? [];
  if (path.startsWith("geometry")) {
    const [, reason = message] = /^[\w.[\]]+: (.+)$/.exec(message) ?? [];
    return { member: "geometry", text: sentence(reason) };
  }
  const [, member = ""] = /^properties\.(\w+)/.exec(path) ?? [];
  if (!SHOWN.includes(member)) return { member: null, text: sentence(message) };
  return { member, text: `${message.slice("properties.".length).replace(/\.$/, "")}.` };
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, "")}.`;
}
