import type { KeyRecord } from "../../auth/key-file.ts";
import type { ViewSpec } from "../../auth/view.ts";
import { printableLine } from "../../lib/text/printable.ts";
import { formatTable } from "../screen/layout.ts";

/**
 * Every key: one line each if that fits the terminal or the output is none, else two, or three for a share link. Times
 * are UTC.
 */
export function formatKeyList(keys: readonly KeyRecord[], nowMs: number, columns: number | null): string {
  const byId = new Map(keys.map((key) => [key.id, key]));
  const rows = keys.map((key) => rowOf(key, byId, nowMs));
  const usedColumns = COLUMNS.filter(
    ([, member]) => !OPTIONAL.has(member) || rows.some((row) => row[member] !== "-"),
  );
  const whole = tableOf(rows, usedColumns);
  if (columns === null || widthOf(whole) <= columns) return whole;
  const [titles, ...lines] = tableOf(rows, SHORT_COLUMNS).split("\n");
  return [titles, ...rows.flatMap((row, index) => [lines[index], ...restOf(row)]), ""].join("\n");
}

type Row = ReturnType<typeof rowOf>;

const COLUMNS: readonly (readonly [title: string, member: keyof Row])[] = [
  ["id", "id"],
  ["app", "app"],
  ["permissions", "permissions"],
  ["device", "device"],
  ["user", "user"],
  ["tier", "tier"],
  ["label", "label"],
  ["created", "created"],
  ["last four", "lastFour"],
  ["ends", "ends"],
  ["made by", "madeBy"],
  ["shows", "shows"],
];
/** Columns that are omitted if no key has a value. */
const OPTIONAL: ReadonlySet<keyof Row> = new Set(["madeBy", "shows"]);
const SHORT_COLUMNS = COLUMNS.filter(([, member]) =>
  ["id", "app", "permissions", "tier", "lastFour", "ends"].includes(member),
);
const DAY_CHARACTERS = "2026-03-20".length;
const INDENT = " ".repeat("k_12345678  ".length);

function tableOf(rows: readonly Row[], columns: typeof COLUMNS): string {
  return formatTable(
    columns.map(([title]) => title),
    rows.map((row) => columns.map(([, member]) => row[member])),
  );
}

function rowOf(key: KeyRecord, byId: ReadonlyMap<string, KeyRecord>, nowMs: number) {
  return {
    id: key.id,
    app: key.appId,
    permissions: key.permissions.join(","),
    device: printableLine(key.deviceId ?? "-"),
    user: printableLine(key.userId ?? "-"),
    tier: key.tier,
    label: printableLine(key.label || "-"),
    created: formatTime(key.createdMs).slice(0, DAY_CHARACTERS),
    lastFour: key.lastFour,
    ends: endOf(key, byId, nowMs),
    madeBy: key.makerId ?? "-",
    shows: key.view === null ? "-" : printableLine(viewText(key.view)),
  };
}

/** The values that a short line omits. */
function restOf({ device, user, label, created, madeBy, shows }: Row): readonly string[] {
  const maker = madeBy === "-" ? "" : ` by ${madeBy}`;
  const rest = [`device ${device}, user ${user}, created ${created}${maker}, ${label}`];
  if (shows !== "-") rest.push(`shows ${shows}`);
  return rest.map((line) => INDENT + line);
}

/** When a key ends or has ended. A key that another key created ends with that one. */
function endOf(key: KeyRecord, byId: ReadonlyMap<string, KeyRecord>, nowMs: number): string {
  const { makerId, expiresMs, revokedMs } = key;
  if (revokedMs !== null) return `revoked ${formatTime(revokedMs)}`;
  if (expiresMs !== null && expiresMs <= nowMs) return `expired ${formatTime(expiresMs)}`;
  if (makerId !== null && hasEnded(byId.get(makerId), nowMs)) return `with ${makerId}`;
  return expiresMs === null ? "-" : formatTime(expiresMs);
}

function hasEnded(key: KeyRecord | undefined, nowMs: number): boolean {
  if (key === undefined || key.revokedMs !== null) return true;
  return key.expiresMs !== null && key.expiresMs <= nowMs;
}

/** To the minute. */
function formatTime(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 16).replace("T", " ");
}

function widthOf(table: string): number {
  return Math.max(...table.split("\n").map((line) => line.length));
}

const NAMED_MAX = 3;

/** `"bus", "tram" from 2026-03-20T12:00:00Z on, in cells of 500 m and whole minutes`. */
export function viewText({ deviceIds, notBeforeMs, precisionMeters }: ViewSpec): string {
  const from = `from ${formatInstant(notBeforeMs)} on`;
  const cells = precisionMeters === null ? "" : `, in cells of ${precisionMeters} m and whole minutes`;
  return `${devicesText(deviceIds)} ${from}${cells}`;
}

function devicesText(ids: readonly string[]): string {
  const named = ids.slice(0, NAMED_MAX).map((id) => `"${id}"`);
  const others = ids.length - named.length;
  return others === 0 ? named.join(", ") : `${named.join(", ")} and ${others} more`;
}

/** UTC to the second. */
export function formatInstant(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19)}Z`;
}
