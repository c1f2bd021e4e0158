import type { Friend } from "../../../clients/owntracks/friend.ts";
import type { AppDevices } from "../../../hot/app-devices.ts";
import type { Device } from "../../../hot/devices/device.ts";
import type { Steps } from "../../../lib/schedule/steps.ts";
import { ANONYMOUS } from "../../../model/ids.ts";
import { numberIndex, profileIndex } from "../../../model/location-fields.ts";
import { Tids } from "./tids.ts";

/** How long a new device may be missing; searching all devices of a large app takes milliseconds. */
const LOOK_INTERVAL_MS = 10_000;

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");
const ACCURACY = numberIndex("horizontal_accuracy");
const ALTITUDE = numberIndex("altitude");
const SPEED = numberIndex("speed");
const BEARING = numberIndex("bearing");
const BATTERY = numberIndex("battery_level");
const USER = profileIndex("user_id");

/** The devices of an app that other devices see, and their names. */
export class FriendsOfApp {
  readonly cards = new Cards();
  readonly #tids = new Tids();
  #devices: readonly Device[] = [];
  #lookedMs = Number.NEGATIVE_INFINITY;

  /**
   * Selects the devices that reported last, unless that has just been done. Meanwhile callers get the former selection.
   */
  *look(
    app: AppDevices,
    nowMs: number,
    { ageMsMax, countMax }: { readonly ageMsMax: number; readonly countMax: number },
  ): Steps<void> {
    if (Math.abs(nowMs - this.#lookedMs) < LOOK_INTERVAL_MS) return;
    this.#lookedMs = nowMs;
    const devices = yield* findNewest(app, nowMs - ageMsMax, countMax);
    this.#tids.handOut(devices.map(({ id }) => id));
    this.#devices = devices;
  }

  /** The selected devices as they are now, without those that are gone or older than this. */
  *current(app: AppDevices, startMs: number): Iterable<Friend> {
    for (const device of this.#devices) {
      const tid = this.#tids.of(device.id);
      if (tid === null || device.isGone || device.newestMs < startMs) continue;
      yield friendAt(app, device, tid);
    }
  }
}

/** The devices that reported last, in order of their ids; each step searches one block. */
function* findNewest(app: AppDevices, startMs: number, countMax: number): Steps<Device[]> {
  let newest: Device[] = [];
  for (const block of app.list.blocks()) {
    const recent = block.filter(({ newestMs }) => newestMs >= startMs);
    if (recent.length > 0) newest = [...newest, ...recent].sort(byAge).slice(0, countMax);
    yield;
  }
  return newest.sort(byId);
}

function byAge(a: Device, b: Device): number {
  return b.newestMs - a.newestMs || byId(a, b);
}

function byId({ id: a }: Device, { id: b }: Device): number {
  return a < b ? -1 : 1;
}

function friendAt(app: AppDevices, device: Device, tid: string): Friend {
  const { numbers, timestampMs, profile, dictionary } = app.newestRecords.pageOf(device.number);
  const numberAt = (field: number) => (Number.isNaN(numbers[field]!) ? null : numbers[field]!);
  const userId = dictionary.profileText(profile[0]!, USER);
  return {
    tid,
    deviceId: device.id,
    userId: userId === ANONYMOUS ? null : userId,
    timestampMs: timestampMs[0]!,
    latitude: numbers[LATITUDE]!,
    longitude: numbers[LONGITUDE]!,
    accuracyMeters: numberAt(ACCURACY),
    altitudeMeters: numberAt(ALTITUDE),
    speedMps: numberAt(SPEED),
    bearingDegrees: numberAt(BEARING),
    batteryPercent: numberAt(BATTERY),
  };
}

/** OwnTracks apps remember a name that they received. */
const CARD_INTERVAL_MS = 60 * 60 * 1000;
/** Devices of an app that names are sent to; more get none until others have been silent for an hour. */
const ASKERS_MAX = 1000;

/** When each device last received each name. */
export class Cards {
  /** Unix ms by friend, by device; the most recent device is last. */
  readonly #sentMs = new Map<string, Map<string, number>>();

  /** Whether a device should receive a friend's name now; if so, notes it. */
  isDue(asker: string, friend: string, nowMs: number): boolean {
    const cards = this.#ofAsker(asker, nowMs);
    if (cards === null || nowMs - (cards.get(friend) ?? Number.NEGATIVE_INFINITY) < CARD_INTERVAL_MS)
      return false;
    for (const [other, sentMs] of cards) if (nowMs - sentMs >= CARD_INTERVAL_MS) cards.delete(other);
    cards.set(friend, nowMs);
    return true;
  }

  #ofAsker(asker: string, nowMs: number): Map<string, number> | null {
    let cards = this.#sentMs.get(asker);
    if (cards === undefined) {
      if (this.#sentMs.size >= ASKERS_MAX && !this.#forgetOne(nowMs)) return null;
      cards = new Map();
    } else this.#sentMs.delete(asker);
    this.#sentMs.set(asker, cards);
    return cards;
  }

  /** Forgets the device that asked the longest ago, if that is more than an hour. */
  #forgetOne(nowMs: number): boolean {
    for (const [asker, cards] of this.#sentMs) {
      const lastMs = Math.max(...cards.values());
      if (nowMs - lastMs < CARD_INTERVAL_MS) return false;
      this.#sentMs.delete(asker);
      return true;
    }
    return false;
  }
}
