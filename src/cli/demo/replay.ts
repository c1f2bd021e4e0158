import { haversineMeters } from "../../model/geo/distance.ts";
import { numberIndex } from "../../model/location-fields.ts";
import {
  BATCH_REPORTS_MAX,
  createReportBatchBuilder,
  NOT_CARRIED,
  type ReportBatch,
  type ReportBatchBuilder,
} from "../../model/report-batch.ts";
import { countUntil, firstMs, lastMs, type Position, type Recording, timeOf, type Way } from "./recording.ts";

/**
 * Plays recordings as if their devices reported now: the first half as history that ends now, the rest as time goes
 * on, `speed` times as fast. A device that the server knows goes on from where it was seen last, whenever that was.
 */
export class Replay {
  readonly #speed: number;
  readonly #players: Player[] = [];
  #playedMs = 0;
  #nowMs: number;

  /** `known` are the devices that the server has, by id. */
  constructor(
    recordings: readonly Recording[],
    known: ReadonlyMap<string, KnownDevice>,
    speed: number,
    nowMs: number,
  ) {
    this.#speed = speed;
    // Its records must not be overlaid by earlier ones, were the clock set back meanwhile.
    this.#nowMs = nowMs;
    for (const { timestampMs } of known.values()) this.#nowMs = Math.max(this.#nowMs, timestampMs + 1);
    for (const { startMs, endMs, ways } of recordings) {
      const middleMs = (startMs + endMs) / 2;
      for (const way of ways) {
        const device = known.get(way.deviceId);
        this.#players.push(device === undefined ? beginning(way, middleMs) : goingOn(way, device));
      }
    }
  }

  get devices(): number {
    return this.#players.length;
  }

  /** What comes before the live reports, of devices that the server does not know. */
  *history(): Generator<ReportBatch> {
    let builder = createReportBatchBuilder(BATCH_REPORTS_MAX);
    for (const { way, historyCount, middleMs } of this.#players) {
      for (const position of way.positions.slice(0, historyCount)) {
        const timestampMs = Math.round(this.#nowMs - middleMs + timeOf(position));
        addPlayed(builder, position, { deviceId: way.deviceId, timestampMs, speed: 1, isReturning: false });
        if (builder.count < BATCH_REPORTS_MAX) continue;
        yield builder.build();
        builder = createReportBatchBuilder(BATCH_REPORTS_MAX);
      }
    }
    if (builder.count > 0) yield builder.build();
  }

  /** Goes on to this instant; what devices report of it now, each at most once. */
  *advance(nowMs: number): Generator<ReportBatch> {
    const passedMs = Math.min(STEP_MS_MAX, Math.max(0, nowMs - this.#nowMs));
    this.#playedMs += passedMs * this.#speed;
    this.#nowMs = Math.max(this.#nowMs + 1, nowMs); // Time never goes backwards, nor stands still.
    let builder = createReportBatchBuilder(this.#players.length);
    for (const player of this.#players) {
      const leg = legAt(player.way, player.elapsedMs + this.#playedMs);
      if (leg === null || isSame(leg, player.last)) continue;
      player.last = leg;
      const played: Played = {
        deviceId: player.way.deviceId,
        timestampMs: this.#nowMs,
        speed: this.#speed,
        isReturning: leadsBack(leg.turn),
      };
      addPlayed(builder, player.way.positions[leg.index]!, played);
      if (builder.count < BATCH_REPORTS_MAX) continue;
      yield builder.build();
      builder = createReportBatchBuilder(this.#players.length);
    }
    if (builder.count > 0) yield builder.build();
  }
}

/** Where the server saw a device last, and when. */
export interface KnownDevice {
  readonly timestampMs: number;
  readonly latitude: number;
  readonly longitude: number;
}

/** What a machine slept through isn't made up for: devices would leap. */
const STEP_MS_MAX = 1000;

interface Player {
  readonly way: Way;
  /** How far it was on its way when the replay began, in time of the recording. */
  readonly elapsedMs: number;
  /** Its first positions that are history, and when that ends. */
  readonly historyCount: number;
  readonly middleMs: number;
  last: Leg | null;
}

/** Its own first half may have ended long before the middle of all: it waits there. */
function beginning(way: Way, middleMs: number): Player {
  const historyCount = countUntil(way, middleMs);
  const elapsedMs = Math.min(middleMs, lastMs(way)) - firstMs(way);
  return { way, elapsedMs, historyCount, middleMs, last: legAt(way, elapsedMs) };
}

/** From the position that is nearest to where it was seen. */
function goingOn(way: Way, { latitude, longitude }: KnownDevice): Player {
  let nearest = way.positions[0]!;
  let nearestMeters = Number.POSITIVE_INFINITY;
  for (const position of way.positions) {
    const { numbers } = position.batch;
    const [lat, lon] = [numbers[LATITUDE]![position.row]!, numbers[LONGITUDE]![position.row]!];
    const meters = haversineMeters(latitude, longitude, lat, lon);
    if (meters >= nearestMeters) continue;
    nearestMeters = meters;
    nearest = position;
  }
  const elapsedMs = timeOf(nearest) - firstMs(way);
  return { way, elapsedMs, historyCount: 0, middleMs: 0, last: null };
}

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");

function isSame(leg: Leg, last: Leg | null): boolean {
  return last !== null && leg.turn === last.turn && leg.index === last.index;
}

/** Where on its way a device is, which goes there and back again for ever. */
export interface Leg {
  /** Counts the turns at the ends: odd ones lead back. */
  readonly turn: number;
  /** The position that it reported last. */
  readonly index: number;
}

/** How long a device rests at each end, in the recording's time: a jump would put it in two places at once. */
const REST_MS = 10 * 60_000;

/** The leg at this time after the device's first position, in the recording's time; null before it. */
export function legAt(way: Way, elapsedMs: number): Leg | null {
  if (elapsedMs < 0) return null;
  const legMs = lastMs(way) - firstMs(way) + REST_MS;
  const turn = Math.floor(elapsedMs / legMs);
  const withinMs = elapsedMs - turn * legMs;
  if (!leadsBack(turn)) return { turn, index: countUntil(way, firstMs(way) + withinMs) - 1 };
  return { turn, index: countUntil(way, lastMs(way) - withinMs - 1) }; // The first that is no earlier.
}

function leadsBack(turn: number): boolean {
  return turn % 2 === 1;
}

/** How a recorded position is played. */
interface Played {
  readonly deviceId: string;
  readonly timestampMs: number;
  /** How many times faster than recorded. */
  readonly speed: number;
  /** Whether the device goes back the way it came. */
  readonly isReturning: boolean;
}

const SPEED = numberIndex("speed");
const BEARING = numberIndex("bearing");

/** Adds a recorded position as a report of another instant, with all else that was recorded of it. */
function addPlayed(
  builder: ReportBatchBuilder,
  { batch, row }: Position,
  { deviceId, timestampMs, speed, isReturning }: Played,
): void {
  const { numbers, profile, state } = builder;
  builder.begin();
  for (let c = 0; c < numbers.length; c++) numbers[c] = batch.numbers[c]![row]!;
  numbers[SPEED]! *= speed;
  if (isReturning) numbers[BEARING] = (numbers[BEARING]! + 180) % 360;
  const copied = (text: number) => (text === NOT_CARRIED ? NOT_CARRIED : builder.text(batch.texts[text]!));
  for (let m = 0; m < profile.length; m++)
    profile[m] = copied(batch.profiles[batch.profile[row]! * profile.length + m]!);
  for (let m = 0; m < state.length; m++)
    state[m] = copied(batch.states[batch.state[row]! * state.length + m]!);
  builder.add(builder.text(deviceId), timestampMs);
}
