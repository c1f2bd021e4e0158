import { EMPTY_MANIFEST, type Manifest } from "../../../../src/archive/manifest.ts";
import { createMasks, type Masks } from "../../../../src/archive/masks.ts";
import { isErased, type PendingErasure } from "../../../../src/model/erasure.ts";
import type { AppId, DeviceId, UserId } from "../../../../src/model/ids.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { type UtcDay, utcDayOf } from "../../../../src/model/time/utc-day.ts";
import { deviceOf, type PlainRow, timeOf } from "./plain-parts.ts";

/** What some erasures mask, and a loop that finds out which rows that are. */
export interface PlainMasks {
  readonly masks: Masks;
  isMasked(row: PlainRow): boolean;
}

/** Draws some erasures, and how far the files of each day are without them. */
export function drawMasks(
  random: () => number,
  of: {
    readonly apps: readonly string[];
    readonly devices: readonly string[];
    readonly users: readonly string[];
    readonly days: readonly UtcDay[];
  },
): PlainMasks {
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!;
  const instant = () => pick(of.days) * MS_PER_DAY + pick([0, 0, 1, 500, 60_000]);
  const sequences = [3, 5, 8].slice(Math.floor(random() * 3));
  const erasures = sequences.map((sequence): PendingErasure => {
    const isOfUser = random() < 0.3;
    return {
      sequence,
      appId: pick(of.apps) as AppId,
      deviceIds: isOfUser ? [] : ([pick(of.devices), pick(of.devices)] as DeviceId[]),
      userId: isOfUser ? (pick(of.users) as UserId) : null,
      range: {
        startMs: pick([Number.NEGATIVE_INFINITY, instant()]),
        endMs: pick([Number.POSITIVE_INFINITY, instant()]),
      },
    };
  });
  const days = new Map(
    of.days.map((day) => [day, { sequence: 9, cleared: pick([0, 0, 4, 5, 9]), parts: [], lost: [] }]),
  );
  const manifest: Manifest = { ...EMPTY_MANIFEST, days };
  return {
    masks: createMasks(manifest, erasures),
    isMasked({ app, report }) {
      const { cleared } = days.get(utcDayOf(timeOf(report)))!;
      return erasures.some(
        (erasure) =>
          erasure.appId === app &&
          erasure.sequence > cleared &&
          isErased(erasure, deviceOf(report), report.user_id as string, timeOf(report)),
      );
    },
  };
}
