import { haversineMeters } from "../../model/geo/distance.ts";
import { numberIndex } from "../../model/location-fields.ts";
import {
  BATCH_REPORTS_MAX,
  createReportBatchBuilder,
  NOT_CARRIED,
  type ReportBatch,
  type ReportBatchBuilder,
} from "../../model/report-batch.ts";
import {
  countUntil,
  firstMs,
  lastMs,
  type Position,
  type RecordedTrack,
  type Recording,
  timeOf,
} from "./recording.ts";

/**
 * Replays recordings as if their devices reported now: the first half becomes history that ends now, the rest follows
 * live, `speed` times as fast. A device that the server knows continues from its last position, whatever its time.
 */
export class Replay {
  readonly #speed: number;
  readonly #players: Player[] = [];
  #playedMs = 0;
  #nowMs: number;

  /** `known` has the devices of the server by id. */
  constructor(
    recordings: readonly Recording[],
    known: ReadonlyMap<string, KnownDevice>,
    speed: number,
    nowMs: number,
  ) {
    this.#speed = speed;
    // New reports must be later than those of the last run, even if the clock was set back.
    this.#nowMs = nowMs;
    for (const { timestampMs } of known.values()) this.#nowMs = Math.max(this.#nowMs, timestampMs + 1);
    for (const { startMs, endMs, tracks } of recordings) {
      const middleMs = (startMs + endMs) / 2;
      for (const track of tracks) {
        const device = known.get(track.deviceId);
        this.#players.push(device === undefined ? newPlayer(track, middleMs) : resumedPlayer(track, device));
      }
    }
  }

  get devices(): number {
    return this.#players.length;
  }

  /** The history of devices that the server does not know. */
  *history(): Generator<ReportBatch> {
    let builder = createReportBatchBuilder(BATCH_REPORTS_MAX);
    for (const { track, historyCount, middleMs } of this.#players) {
      for (const position of track.positions.slice(0, historyCount)) {
        const timestampMs = Math.round(this.#nowMs - middleMs + timeOf(position));
        addPlayed(builder, position, { deviceId: track.deviceId, timestampMs, speed: 1, isReturning: false });
        if (builder.count < BATCH_REPORTS_MAX) continue;
        yield builder.build();
        builder = createReportBatchBuilder(BATCH_REPORTS_MAX);
      }
    }
    if (builder.count > 0) yield builder.build();
  }

  /** Moves the replay to this instant; yields the reports of all devices that moved, at most one each. */
  *advance(nowMs: number): Generator<ReportBatch> {
    const passedMs = Math.min(STEP_MS_MAX, Math.max(0, nowMs - this.#nowMs));
    this.#playedMs += passedMs * this.#speed;
    this.#nowMs = Math.max(this.#nowMs + 1, nowMs); // Timestamps always increase.
    let builder = createReportBatchBuilder(this.#players.length);
    for (const player of this.#players) {
      const leg = legAt(player.track, player.elapsedMs + this.#playedMs);
      if (leg === null || isSame(leg, player.last)) continue;
      player.last = leg;
      const report: PlayedReport = {
        deviceId: player.track.deviceId,
        timestampMs: this.#nowMs,
        speed: this.#speed,
        isReturning: leadsBack(leg.turn),
      };
      addPlayed(builder, player.track.positions[leg.index]!, report);
      if (builder.count < BATCH_REPORTS_MAX) continue;
      yield builder.build();
      builder = createReportBatchBuilder(this.#players.length);
    }
    if (builder.count > 0) yield builder.build();
  }
}

/** The last position of a device on the server. */
export interface KnownDevice {
  readonly timestampMs: number;
  readonly latitude: number;
  readonly longitude: number;
}

/** The replay does not catch up after the machine slept: devices would jump. */
const STEP_MS_MAX = 1000;

interface Player {
  readonly track: RecordedTrack;
  /** Its time since the first position when the replay began, in time of the recording. */
  readonly elapsedMs: number;
  /** How many of its first positions are history, and the instant at which history ends. */
  readonly historyCount: number;
  readonly middleMs: number;
  last: Leg | null;
}

/** A device whose recording ends before the middle of all recordings waits at its last position. */
function newPlayer(track: RecordedTrack, middleMs: number): Player {
  const historyCount = countUntil(track, middleMs);
  const elapsedMs = Math.min(middleMs, lastMs(track)) - firstMs(track);
  return { track, elapsedMs, historyCount, middleMs, last: legAt(track, elapsedMs) };
}

/** Continues from the recorded position that is nearest to the device. */
function resumedPlayer(track: RecordedTrack, { latitude, longitude }: KnownDevice): Player {
  let nearest = track.positions[0]!;
  let nearestMeters = Number.POSITIVE_INFINITY;
  for (const position of track.positions) {
    const { numbers } = position.batch;
    const [lat, lon] = [numbers[LATITUDE]![position.row]!, numbers[LONGITUDE]![position.row]!];
    const meters = haversineMeters(latitude, longitude, lat, lon);
    if (meters >= nearestMeters) continue;
    nearestMeters = meters;
    nearest = position;
  }
  const elapsedMs = timeOf(nearest) - firstMs(track);
  return { track, elapsedMs, historyCount: 0, middleMs: 0, last: null };
}

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");

function isSame(leg: Leg, last: Leg | null): boolean {
  return last !== null && leg.turn === last.turn && leg.index === last.index;
}

/** Where a device is on its track, which it travels back and forth forever. */
export interface Leg {
  /** How often the device turned around: odd legs lead back. */
  readonly turn: number;
  /** Its last reported position. */
  readonly index: number;
}

/** How long a device rests at each end, in the recording's time. */
const REST_MS = 10 * 60_000;

/** The leg at this time after the device's first position, in the recording's time; null before it. */
export function legAt(track: RecordedTrack, elapsedMs: number): Leg | null {
  if (elapsedMs < 0) return null;
  const legMs = lastMs(track) - firstMs(track) + REST_MS;
  const turn = Math.floor(elapsedMs / legMs);
  const withinMs = elapsedMs - turn * legMs;
  if (!leadsBack(turn)) return { turn, index: countUntil(track, firstMs(track) + withinMs) - 1 };
  return { turn, index: countUntil(track, lastMs(track) - withinMs - 1) }; // The first position that is not earlier.
}

function leadsBack(turn: number): boolean {
  return turn % 2 === 1;
}

/** The values of a report that differ from the recorded position. */
interface PlayedReport {
  readonly deviceId: string;
  readonly timestampMs: number;
  /** How many times faster than recorded. */
  readonly speed: number;
  /** Whether the device travels back, so that its bearing is reversed. */
  readonly isReturning: boolean;
}

const SPEED = numberIndex("speed");
const BEARING = numberIndex("bearing");

/** Adds a recorded position as a report, with all its other recorded values. */
function addPlayed(
  builder: ReportBatchBuilder,
  { batch, row }: Position,
  { deviceId, timestampMs, speed, isReturning }: PlayedReport,
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
