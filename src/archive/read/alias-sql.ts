import { type DeviceAlias, deviceOf } from "../../model/device-alias.ts";
import type { DeviceId } from "../../model/ids.ts";
import { VALUE_COLUMNS } from "../columns.ts";
import type { SqlValues } from "../duckdb/database.ts";

// The SQL that shows records of one device as those of another. It comes after late rows are merged, since both are by
// the device that reported, and before conditions on values, since a record may get another user.

/** What decides the text of a statement: how many devices it names, each as a parameter. */
export interface AliasShape {
  /** Null if the statement is about all devices of the app. */
  readonly deviceCount: number | null;
}

/** A statement names the devices as parameters up to this number: DuckDB then skips row groups without any of them. */
const NAMED_DEVICES_MAX = 32;

/** The shape of a statement about a device, or about all of an app; null if no record shows as another device's. */
export function aliasShape(aliases: readonly DeviceAlias[], deviceId: DeviceId | null): AliasShape | null {
  if (aliases.length === 0) return null;
  return { deviceCount: deviceId === null ? null : aliases.length + 1 };
}

/**
 * The values that such statements name; `hasHidden` if they leave keys out. Of a device, `aliases` are those that show
 * as it.
 */
export function aliasValues(
  aliases: readonly DeviceAlias[],
  deviceId: DeviceId | null,
  hasHidden: boolean,
): SqlValues {
  const own = [...new Set(aliases.map(({ via }) => via.at(-1)!))];
  const from = [...own, ...aliases.map((alias) => alias.deviceId)];
  const named = deviceId === null || from.length > NAMED_DEVICES_MAX ? [] : from;
  return {
    aliasFrom: from,
    aliasTo: [...own.map(deviceOf), ...aliases.map(({ shownId }) => shownId)],
    aliasUser: [...own.map(() => ""), ...aliases.map(({ userId }) => userId ?? "")], // No user has an empty id.
    aliasRank: [...own.map(() => "0"), ...aliases.map(({ rank }) => String(rank))],
    ...(hasHidden
      ? {
          aliasOnWay: aliases.flatMap((alias) => alias.via.map(() => alias.deviceId)),
          aliasVia: aliases.flatMap(({ via }) => via),
        }
      : {}),
    ...Object.fromEntries(named.map((id, index) => [`aliasDevice${index}`, id])),
  };
}

/** The condition for records of devices that show as another, and of those that they show as. */
export function isAliasedSql({ deviceCount }: AliasShape): string {
  if (deviceCount === null || deviceCount > NAMED_DEVICES_MAX)
    return "device_id IN (SELECT unnest($aliasFrom))";
  return `device_id IN (${Array.from({ length: deviceCount }, (_, index) => `$aliasDevice${index}`).join(", ")})`;
}

/** The condition for records of all other devices. */
export const IS_NOT_ALIASED_SQL = "device_id NOT IN (SELECT unnest($aliasFrom))";

const ALIASES = `(SELECT unnest($aliasFrom) AS reported_id, unnest($aliasTo) AS shown_id,
  unnest($aliasUser) AS shown_user, unnest($aliasRank)::INTEGER AS alias_rank)`;

const VALUES = VALUE_COLUMNS.map(({ name }) =>
  name === "user_id" ? "coalesce(nullif(a.shown_user, ''), r.user_id) AS user_id" : `r.${name}`,
).join(", ");

/** What is hidden of records, by the devices that reported: by the keys of all devices on their way. */
function hiddenOnWaySql(hidden: string): string {
  return `SELECT w.reported_id, h.timestamp FROM ${hidden} h
    JOIN (SELECT unnest($aliasOnWay) AS reported_id, unnest($aliasVia) AS via_id) w ON h.device_id = w.via_id`;
}

/**
 * The records of a table that has those of `isAliasedSql()`, with the devices and users that they show as: of several
 * records of an instant, the device's own, or the first in rank. `hidden` has keys as they are shown, too.
 * The first in rank is not found by `row_number() = 1`: an optimizer of DuckDB 1.5 makes that an internal error if late
 * rows are joined.
 */
export function renamedSql(table: string, hidden: string | null): string {
  const isShown =
    hidden === null
      ? ""
      : ` ANTI JOIN (${hiddenOnWaySql(hidden)}) h ON h.reported_id = r.device_id AND h.timestamp = r.timestamp`;
  return `SELECT a.shown_id AS device_id, r.timestamp, ${VALUES}
    FROM ${table} r JOIN ${ALIASES} a ON r.device_id = a.reported_id${isShown}
    QUALIFY alias_rank = min(alias_rank) OVER (PARTITION BY a.shown_id, r.timestamp)`;
}
