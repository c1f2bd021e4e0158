import type { Friend } from "../../../clients/owntracks/friend.ts";
import type { AppDevices } from "../../../hot/app-devices.ts";
import type { Device } from "../../../hot/devices/device.ts";
import type { Steps } from "../../../lib/schedule/steps.ts";
import { ANONYMOUS } from "../../../model/ids.ts";
import { numberIndex, profileIndex } from "../../../model/location-fields.ts";
import { Tids } from "./tids.ts";

/** How long a device that is new to an app may be missing: a look at all of a large app takes milliseconds. */
const LOOK_INTERVAL_MS = 10_000;

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");
const ACCURACY = numberIndex("horizontal_accuracy");
const ALTITUDE = numberIndex("altitude");
const SPEED = numberIndex("speed");
const BEARING = numberIndex("bearing");
const BATTERY = numberIndex("battery_level");
const USER = profileIndex("user_id");

/** Which devices of an app are shown to the others, and as what. */
export class FriendsOfApp {
  readonly cards = new Cards();
  readonly #tids = new Tids();
  #devices: readonly Device[] = [];
  #lookedMs = Number.NEGATIVE_INFINITY;

  /** Chooses the devices that reported last, unless that was done just now. Who comes meanwhile is shown the former. */
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

  /** The chosen devices as they are now, but for those that are gone or older than this. */
  *current(app: AppDevices, startMs: number): Iterable<Friend> {
    for (const device of this.#devices) {
      const tid = this.#tids.of(device.id);
      if (tid === null || device.isGone || device.newestMs < startMs) continue;
      yield friendAt(app, device, tid);
    }
  }
}

/** The devices that reported last, in order of their ids; a block of all of them a step. */
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

/** The apps keep a name that they were told. */
const CARD_INTERVAL_MS = 60 * 60 * 1000;
/** Devices of an app that are told names; beyond that, until others have been silent for an hour, none is. */
const ASKERS_MAX = 1000;

/** Which names a device was told when. */
export class Cards {
  /** In Unix ms, by friend, by who asked; those who asked last stand behind the others. */
  readonly #toldMs = new Map<string, Map<string, number>>();

  /** Whether a device is to be told a friend's name now, which is then noted. */
  isDue(asker: string, friend: string, nowMs: number): boolean {
    const told = this.#ofAsker(asker, nowMs);
    if (told === null || nowMs - (told.get(friend) ?? Number.NEGATIVE_INFINITY) < CARD_INTERVAL_MS)
      return false;
    for (const [other, toldMs] of told) if (nowMs - toldMs >= CARD_INTERVAL_MS) told.delete(other);
    told.set(friend, nowMs);
    return true;
  }

  #ofAsker(asker: string, nowMs: number): Map<string, number> | null {
    let told = this.#toldMs.get(asker);
    if (told === undefined) {
      if (this.#toldMs.size >= ASKERS_MAX && !this.#forgetOne(nowMs)) return null;
      told = new Map();
    } else this.#toldMs.delete(asker);
    this.#toldMs.set(asker, told);
    return told;
  }

  /** Forgets who asked longest ago, where that was more than an hour. */
  #forgetOne(nowMs: number): boolean {
    for (const [asker, told] of this.#toldMs) {
      const lastMs = Math.max(...told.values());
      if (nowMs - lastMs < CARD_INTERVAL_MS) return false;
      this.#toldMs.delete(asker);
      return true;
    }
    return false;
  }
}
