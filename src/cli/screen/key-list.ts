import type { KeyRecord } from "../../auth/key-file.ts";
import { formatTable } from "./table.ts";

/** Every key: a line each where the terminal has the room or there is none, else two. Times are UTC. */
export function formatKeyList(keys: readonly KeyRecord[], nowMs: number, columns: number | null): string {
  const rows = keys.map((key) => rowOf(key, nowMs));
  const whole = formatTable(HEADER, rows.map(Object.values));
  if (columns === null || widthOf(whole) <= columns) return whole;
  const [header, ...lines] = formatTable(
    SHORT_HEADER,
    rows.map(({ id, app, permissions, tier, lastFour, ends }) => [
      id,
      app,
      permissions,
      tier,
      lastFour,
      ends,
    ]),
  ).split("\n");
  return [header, ...rows.flatMap((row, index) => [lines[index], INDENT + restOf(row)]), ""].join("\n");
}

const HEADER = [
  "id",
  "app",
  "permissions",
  "device",
  "user",
  "tier",
  "label",
  "created",
  "last four",
  "ends",
];
const SHORT_HEADER = ["id", "app", "permissions", "tier", "last four", "ends"];
const DAY_CHARACTERS = "2026-03-20".length;
const INDENT = " ".repeat("k_12345678  ".length);

/** Cells in the order of the header. */
function rowOf(key: KeyRecord, nowMs: number) {
  return {
    id: key.id,
    app: key.appId,
    permissions: key.permissions.join(","),
    device: key.deviceId ?? "-",
    user: key.userId ?? "-",
    tier: key.tier,
    label: key.label || "-",
    created: formatTime(key.createdMs).slice(0, DAY_CHARACTERS),
    lastFour: key.lastFour,
    ends: endOf(key, nowMs),
  };
}

/** What a short line leaves out. */
function restOf({ device, user, label, created }: ReturnType<typeof rowOf>): string {
  return `device ${device}, user ${user}, created ${created}, ${label}`;
}

function endOf({ expiresMs, revokedMs }: KeyRecord, nowMs: number): string {
  if (revokedMs !== null) return `revoked ${formatTime(revokedMs)}`;
  if (expiresMs === null) return "-";
  return expiresMs <= nowMs ? `expired ${formatTime(expiresMs)}` : formatTime(expiresMs);
}

/** To the minute. */
function formatTime(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 16).replace("T", " ");
}

function widthOf(table: string): number {
  return Math.max(...table.split("\n").map((line) => line.length));
}
