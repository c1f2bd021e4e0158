import type { View } from "../../auth/view.ts";
import type { AppDevices } from "../../hot/app-devices.ts";
import { hashText } from "../../lib/tables/hash.ts";
import type { BoundingBox } from "../../model/geo/bounding-box.ts";
import type { ViewerQuery } from "./live.ts";

const ALWAYS = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };

/** A viewer's filter, prepared for many devices. */
export class ViewerFilter {
  /** By id; null for all. */
  readonly deviceIds: ReadonlySet<string> | null;
  /** The oldest newest record that matches. */
  readonly startMs: number;
  /** Nothing outside it matches; null for the whole Earth, or if a share link shows blurred positions. */
  readonly box: BoundingBox | null;
  readonly #contains: (latitude: number, longitude: number) => boolean;
  readonly #userHash: number | null;
  readonly #isView: boolean;

  constructor({ box, deviceIds, userId, view }: ViewerQuery) {
    this.deviceIds = view === null ? deviceIds : shownDevices(view, deviceIds, userId !== null);
    this.startMs = view === null ? ALWAYS.startMs : startOf(view);
    this.box = view === null ? box : null;
    this.#isView = view !== null;
    this.#contains = containing(box, view);
    this.#userHash = userId === null ? null : hashText(userId);
  }

  /**
   * The last entry of the log that changed something visible to the viewer: an id must not reveal reports of others.
   */
  lastSequence(app: AppDevices | null): number {
    return this.#isView ? lastSequenceOf(app, this.deviceIds!, this.startMs) : (app?.touches.sequence ?? 0);
  }

  /**
   * The devices in the order of the event: a share link's by id. The order of changes depends on when a device was
   * first seen, which may have been before the link.
   */
  inOrder(app: AppDevices, devices: readonly number[]): Uint32Array {
    if (!this.#isView) return new Uint32Array(devices);
    const wanted = new Set(devices);
    return Uint32Array.from([...devicesOf(app, this.deviceIds!)].filter((device) => wanted.has(device)));
  }

  /** Another user may have the same hash; then the viewer gets a device of that user too. */
  matches(latitude: number, longitude: number, userHash: number): boolean {
    return (this.#userHash === null || userHash === this.#userHash) && this.#contains(latitude, longitude);
  }
}

/** The first time that a share link shows. */
export function startOf(view: View): number {
  return view.rangeOf(ALWAYS).startMs;
}

/** The last log entry that touched one of the devices with a newest record since then. */
export function lastSequenceOf(app: AppDevices | null, ids: Iterable<string>, startMs: number): number {
  if (app === null) return 0;
  let last = 0;
  for (const device of devicesOf(app, ids))
    if (app.newestTimes.of(device) >= startMs) last = Math.max(last, app.touches.sequenceOf(device));
  return last;
}

/** The devices that exist, by number. */
export function* devicesOf(app: AppDevices, ids: Iterable<string>): Iterable<number> {
  for (const id of ids) {
    const device = app.find(id);
    if (device !== null) yield device.number;
  }
}

/** A share link doesn't show users, so it has no devices of a user. */
function shownDevices(
  view: View,
  deviceIds: ReadonlySet<string> | null,
  isOfUser: boolean,
): ReadonlySet<string> {
  return new Set(view.deviceIds.filter((id) => !isOfUser && (deviceIds?.has(id) ?? true)));
}

function containing(box: BoundingBox | null, view: View | null) {
  if (box === null) return () => true;
  if (view === null) return (latitude: number, longitude: number) => box.contains(latitude, longitude);
  return (latitude: number, longitude: number) => {
    const point = view.pointOf(latitude, longitude);
    return box.contains(point.latitude, point.longitude);
  };
}

/**
 * The state of each device that the viewer of a share link has. A report that changes nothing in it is not sent: its
 * arrival would reveal what the link doesn't show.
 */
export class ViewerRecords {
  readonly #view: View;
  /** By id. A link has a thousand devices at most. */
  readonly #states = new Map<string, string>();

  constructor(view: View) {
    this.#view = view;
  }

  /** The devices whose state differs from the viewer's. */
  findNews(app: AppDevices, devices: Uint32Array): Uint32Array {
    return devices.filter(
      (device) => this.#states.get(app.table.byNumber(device).id) !== this.#stateOf(app, device),
    );
  }

  /** Notes that the devices are sent as they are now. */
  note(app: AppDevices, devices: Uint32Array): void {
    for (const device of devices) this.#states.set(app.table.byNumber(device).id, this.#stateOf(app, device));
  }

  /** Notes that the viewer has these devices no more. */
  forget(app: AppDevices, devices: Uint32Array): void {
    for (const device of devices) this.#states.delete(app.table.idOf(device));
  }

  /** Forgets all, because the viewer starts anew. */
  clear(): void {
    this.#states.clear();
  }

  #stateOf({ positions, newestTimes }: AppDevices, device: number): string {
    const { byDevice } = positions;
    const point = this.#view.pointOf(byDevice.latitudeOf(device), byDevice.longitudeOf(device));
    return `${this.#view.timeOf(newestTimes.of(device))} ${point.latitude} ${point.longitude}`;
  }
}
