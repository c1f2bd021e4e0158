import type { Steps } from "../../../lib/schedule/steps.ts";
import { sortInSteps } from "../../../lib/schedule/steps.ts";
import { grown } from "../../../lib/tables/columns.ts";
import { compareUtf8 } from "../../../lib/text/utf8.ts";
import type { BoundingBox } from "../../../model/geo/bounding-box.ts";
import type { DeviceId } from "../../../model/ids.ts";
import { Segment, toleranceDegrees } from "./segment.ts";

/** Lines of all devices of an app, thinned as the records arrive. */

export interface FleetLinesOptions {
  readonly toleranceMeters: number;
  readonly verticesMax: number;
  readonly devicesMax: number;
  /** Lines are cut at its edges; null for the whole world. */
  readonly box: BoundingBox | null;
}

/** The vertices of all lines, by device, then time. */
export interface FleetTracks {
  /** Devices with positions, in the order of ids. */
  readonly deviceIds: readonly DeviceId[];
  /** The index of each device's first vertex. */
  readonly first: Float64Array;
  /** Indexes of vertices to which no line leads from the one before, of the same device. */
  readonly gaps: Float64Array;
  readonly timestampMs: Float64Array;
  readonly latitude: Float64Array;
  readonly longitude: Float64Array;
  /** Records that were thinned. */
  readonly total: number;
  /** A position between two vertices of a line, in proportion to time, is within this distance of each record. */
  readonly toleranceMeters: number;
}

/** Above this tolerance the map of a continent would show nothing, so the range is too large. */
const TOLERANCE_METERS_MAX = 1_000_000;
/** Vertices that are visited in one step, in about 0.1 ms. */
const STEP_VERTICES = 2048;
const CAPACITY_MIN = 1024;

/**
 * Lines through the records of many devices. The records of a device must come in order of time; those of different
 * devices may come in any order. If there are too many vertices, the tolerance doubles, and all lines become coarser.
 */
export class FleetLines {
  readonly #options: FleetLinesOptions;
  readonly #devices = new Map<DeviceId, OpenLine>();
  #vertices = new VertexStore();
  #toleranceMeters: number;
  #degrees: number;
  #total = 0;
  /** The device of the last record, since most records follow one of the same device. */
  #line: OpenLine | null = null;
  #isTooMuch = false;

  constructor(options: FleetLinesOptions) {
    this.#options = options;
    this.#toleranceMeters = options.toleranceMeters;
    this.#degrees = toleranceDegrees(options.toleranceMeters);
  }

  add(deviceId: DeviceId, timestampMs: number, latitude: number, longitude: number): void {
    if (this.#isTooMuch) return;
    const { box } = this.#options;
    if (box !== null && !box.contains(latitude, longitude)) {
      const line = this.#devices.get(deviceId);
      if (line !== undefined) close(line, this.#vertices);
      return;
    }
    this.#total++;
    const line = this.#lineOf(deviceId);
    if (line === null) return;
    const isJoined = line.isOpen && line.segment.isJoinedTo(timestampMs, latitude, longitude);
    if (!isJoined) close(line, this.#vertices);
    extend(line, timestampMs, latitude, longitude, this.#degrees, this.#vertices);
  }

  /** Makes lines coarser if there are too many vertices. To be called after some thousand records. */
  *catchUp(): Steps<void> {
    while (this.#vertices.count > this.#options.verticesMax && !this.#isTooMuch) {
      const toleranceMeters = Math.max(1, 2 * this.#toleranceMeters);
      this.#isTooMuch = toleranceMeters > TOLERANCE_METERS_MAX;
      // The tolerances of two simplifications add up.
      const more = toleranceDegrees(toleranceMeters - this.#toleranceMeters);
      this.#vertices = yield* coarsen(this.#vertices, this.#devices.size, more);
      this.#toleranceMeters = toleranceMeters;
      this.#degrees = toleranceDegrees(toleranceMeters);
    }
    if (this.#isTooMuch) this.#vertices = new VertexStore();
  }

  /** Null if the range has too many devices or gaps. */
  *end(): Steps<FleetTracks | null> {
    let visited = 0;
    for (const line of this.#devices.values()) {
      close(line, this.#vertices);
      if (++visited % STEP_VERTICES === 0) yield;
    }
    yield* this.catchUp();
    if (this.#isTooMuch) return null;
    const lines = yield* sortInSteps([...this.#devices.values()], byId);
    const places = new Uint32Array(lines.length);
    const deviceIds: DeviceId[] = [];
    for (const [place, line] of lines.entries()) {
      places[line.device] = place;
      deviceIds.push(line.deviceId);
      if (place % STEP_VERTICES === STEP_VERTICES - 1) yield;
    }
    const total = this.#total;
    const toleranceMeters = this.#toleranceMeters;
    return { ...(yield* inOrder(this.#vertices, places)), deviceIds, total, toleranceMeters };
  }

  #lineOf(deviceId: DeviceId): OpenLine | null {
    if (this.#line?.deviceId === deviceId) return this.#line;
    let line = this.#devices.get(deviceId);
    if (line === undefined) {
      if (this.#devices.size === this.#options.devicesMax) {
        this.#isTooMuch = true;
        return null;
      }
      line = { deviceId, device: this.#devices.size, segment: new Segment(), isOpen: false };
      this.#devices.set(deviceId, line);
    }
    this.#line = line;
    return line;
  }
}

function byId(a: OpenLine, b: OpenLine): number {
  return compareUtf8(a.deviceId, b.deviceId);
}

interface OpenLine {
  readonly deviceId: DeviceId;
  /** Devices are numbered from 0. */
  readonly device: number;
  readonly segment: Segment;
  isOpen: boolean;
}

type Line = Pick<OpenLine, "device" | "segment" | "isOpen">;

/** Adds a position to a line, or begins one if none is open. */
function extend(
  line: Line,
  timestampMs: number,
  latitude: number,
  longitude: number,
  degrees: number,
  vertices: VertexStore,
): void {
  const { segment } = line;
  if (!line.isOpen) {
    segment.begin(timestampMs, latitude, longitude);
    vertices.add(line, true);
    line.isOpen = true;
    return;
  }
  if (!segment.reaches(timestampMs, latitude, longitude)) addVertex(line, vertices);
  segment.add(timestampMs, latitude, longitude, degrees);
}

/** Makes the last position a vertex. */
function addVertex(line: Line, vertices: VertexStore): void {
  line.segment.beginHere();
  vertices.add(line, false);
}

function close(line: Line, vertices: VertexStore): void {
  if (line.segment.isPending) addVertex(line, vertices);
  line.isOpen = false;
}

/** Vertices in the order in which they were found. */
class VertexStore {
  count = 0;
  device = new Uint32Array(CAPACITY_MIN);
  /** 1 if the vertex begins a line. */
  isStart = new Uint8Array(CAPACITY_MIN);
  timestampMs = new Float64Array(CAPACITY_MIN);
  latitude = new Float64Array(CAPACITY_MIN);
  longitude = new Float64Array(CAPACITY_MIN);

  /** Adds the last position of a line. */
  add({ device, segment }: Line, isStart: boolean): void {
    const at = this.count++;
    if (at === this.device.length) this.#grow();
    this.device[at] = device;
    this.isStart[at] = isStart ? 1 : 0;
    this.timestampMs[at] = segment.timestampMs;
    this.latitude[at] = segment.latitude;
    this.longitude[at] = segment.longitude;
  }

  #grow(): void {
    this.device = grown(this.device);
    this.isStart = grown(this.isStart);
    this.timestampMs = grown(this.timestampMs);
    this.latitude = grown(this.latitude);
    this.longitude = grown(this.longitude);
  }
}

/** Thins vertices again, by device. Ends of lines stay. */
function* coarsen(vertices: VertexStore, devices: number, degrees: number): Steps<VertexStore> {
  const places = new Uint32Array(devices);
  for (let device = 0; device < devices; device++) places[device] = device;
  const { order } = yield* orderOf(vertices, places);
  const { device, isStart, timestampMs, latitude, longitude } = vertices;
  const coarser = new VertexStore();
  let line: Line = { device: 0, segment: new Segment(), isOpen: false };
  for (let index = 0; index < order.length; index++) {
    const at = order[index]!;
    if (isStart[at] === 1) {
      close(line, coarser);
      line = { device: device[at]!, segment: line.segment, isOpen: false };
    }
    extend(line, timestampMs[at]!, latitude[at]!, longitude[at]!, degrees, coarser);
    if (index % STEP_VERTICES === STEP_VERTICES - 1) yield;
  }
  close(line, coarser);
  return coarser;
}

/** The vertices by the places of their devices, each device's in the order in which they came; where each begins. */
function* orderOf(
  { count, device }: VertexStore,
  places: Uint32Array,
): Steps<{ readonly order: Uint32Array; readonly first: Float64Array }> {
  const next = new Float64Array(places.length + 1);
  for (let at = 0; at < count; at++) {
    next[places[device[at]!]! + 1]!++;
    if (at % STEP_VERTICES === STEP_VERTICES - 1) yield;
  }
  for (let place = 1; place < next.length; place++) next[place]! += next[place - 1]!;
  const first = next.slice(0, places.length);
  const order = new Uint32Array(count);
  for (let at = 0; at < count; at++) {
    const place = places[device[at]!]!;
    order[next[place]!++] = at;
    if (at % STEP_VERTICES === STEP_VERTICES - 1) yield;
  }
  return { order, first };
}

function* inOrder(
  vertices: VertexStore,
  places: Uint32Array,
): Steps<Pick<FleetTracks, "first" | "gaps" | "timestampMs" | "latitude" | "longitude">> {
  const { order, first } = yield* orderOf(vertices, places);
  const { device, isStart } = vertices;
  const [timestampMs, latitude, longitude] = [1, 2, 3].map(() => new Float64Array(order.length));
  const gaps: number[] = [];
  for (let index = 0; index < order.length; index++) {
    const at = order[index]!;
    timestampMs![index] = vertices.timestampMs[at]!;
    latitude![index] = vertices.latitude[at]!;
    longitude![index] = vertices.longitude[at]!;
    if (isStart[at] === 1 && first[places[device[at]!]!] !== index) gaps.push(index);
    if (index % STEP_VERTICES === STEP_VERTICES - 1) yield;
  }
  return {
    first,
    gaps: Float64Array.from(gaps),
    timestampMs: timestampMs!,
    latitude: latitude!,
    longitude: longitude!,
  };
}
