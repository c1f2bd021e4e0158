import { haversineMeters } from "../../model/geo/distance.ts";
import { numberIndex } from "../../model/location-fields.ts";
import {
  BATCH_REPORTS_MAX,
  createReportBatchBuilder,
  type ReportBatch,
  type ReportBatchBuilder,
} from "../../model/report-batch.ts";
import { MS_PER_SECOND } from "../../model/time/units.ts";
import { SILENCE_MS_MAX } from "../../service/queries/positions.ts";
import { copyPosition } from "./copy-position.ts";
import {
  countUntil,
  type Position,
  playedAt,
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
      for (let index = 0; index < historyCount; index++) {
        const timestampMs = Math.round(this.#nowMs - middleMs + timeOf(track.positions[index]!));
        addPlayed(builder, { track, index }, { timestampMs, isReturning: false });
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
      const report = { timestampMs: this.#nowMs, isReturning: leadsBack(leg.turn) };
      addPlayed(builder, { track: player.track, index: leg.index }, report);
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
  const { positions } = track;
  const historyCount = countUntil(middleMs, positions.length, (index) => timeOf(positions[index]!));
  const elapsedMs = playedAt(track, middleMs);
  return { track, elapsedMs, historyCount, middleMs, last: legAt(track, elapsedMs) };
}

/** Continues from the recorded position that is nearest to the device. */
function resumedPlayer(track: RecordedTrack, { latitude, longitude }: KnownDevice): Player {
  let nearest = track.positions[0]!;
  let nearestMeters = Number.POSITIVE_INFINITY;
  for (const position of track.positions) {
    const [lat, lon] = coordinatesOf(position);
    const meters = haversineMeters(latitude, longitude, lat, lon);
    if (meters >= nearestMeters) continue;
    nearestMeters = meters;
    nearest = position;
  }
  const elapsedMs = playedAt(track, timeOf(nearest));
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

/** The leg at this time after the device's first position, in the recording's time without silences; null before it. */
export function legAt({ playedMs }: RecordedTrack, elapsedMs: number): Leg | null {
  if (elapsedMs < 0) return null;
  const lastMs = playedMs.at(-1)!;
  const legMs = lastMs + REST_MS;
  const turn = Math.floor(elapsedMs / legMs);
  const withinMs = elapsedMs - turn * legMs;
  const countAt = (atMs: number) => countUntil(atMs, playedMs.length, (index) => playedMs[index]!);
  if (!leadsBack(turn)) return { turn, index: countAt(withinMs) - 1 };
  return { turn, index: countAt(lastMs - withinMs - 1) }; // The first position that is not earlier.
}

function leadsBack(turn: number): boolean {
  return turn % 2 === 1;
}

/** The values of a report that differ from the recorded position. */
interface PlayedReport {
  readonly timestampMs: number;
  /** Whether the device travels back, so that its bearing is reversed. */
  readonly isReturning: boolean;
}

const SPEED = numberIndex("speed");
const BEARING = numberIndex("bearing");

/** Adds a recorded position as a report, with all its recorded values. */
function addPlayed(
  builder: ReportBatchBuilder,
  { track, index }: { readonly track: RecordedTrack; readonly index: number },
  { timestampMs, isReturning }: PlayedReport,
): void {
  const { numbers } = builder;
  copyPosition(builder, track.positions[index]!);
  if (Number.isNaN(numbers[SPEED]!)) numbers[SPEED] = speedAt(track, index);
  if (isReturning) numbers[BEARING] = (numbers[BEARING]! + 180) % 360;
  builder.add(builder.text(track.deviceId), timestampMs);
}

/**
 * The speed from the position before, in meters a second, as recorded: positions alone would show a replay's speed,
 * which is many times greater. NaN if the device was silent before.
 */
function speedAt({ positions }: RecordedTrack, index: number): number {
  if (index === 0) return Number.NaN;
  const [before, at] = [positions[index - 1]!, positions[index]!];
  const passedMs = timeOf(at) - timeOf(before);
  if (passedMs === 0 || passedMs > SILENCE_MS_MAX) return Number.NaN;
  const [latA, lonA] = coordinatesOf(before);
  const [latB, lonB] = coordinatesOf(at);
  return (haversineMeters(latA, lonA, latB, lonB) * MS_PER_SECOND) / passedMs;
}

function coordinatesOf({ batch, row }: Position): [latitude: number, longitude: number] {
  return [batch.numbers[LATITUDE]![row]!, batch.numbers[LONGITUDE]![row]!];
}
