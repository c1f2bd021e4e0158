import { haversineMeters, initialBearingDegrees, RADIANS_PER_DEGREE } from "../model/geo/distance.ts";

/** The positions of devices, in degrees, by device number. */
export interface DevicePositions {
  /** Numbers of devices with a position are below this. */
  readonly numbersEnd: number;
  latitudeOf(device: number): number;
  longitudeOf(device: number): number;
}

/** The center of a circle: in degrees, and as a point of the unit sphere with the directions east and north there. */
export class Center {
  readonly latitude: number;
  readonly longitude: number;
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly eastX: number;
  readonly eastY: number;
  readonly northX: number;
  readonly northY: number;
  readonly northZ: number;

  constructor(latitude: number, longitude: number) {
    const lat = latitude * RADIANS_PER_DEGREE;
    const lon = longitude * RADIANS_PER_DEGREE;
    const cosLat = Math.cos(lat);
    const sinLat = Math.sin(lat);
    const cosLon = Math.cos(lon);
    const sinLon = Math.sin(lon);
    this.latitude = latitude;
    this.longitude = longitude;
    this.x = cosLat * cosLon;
    this.y = cosLat * sinLon;
    this.z = sinLat;
    this.eastX = -sinLon;
    this.eastY = cosLon;
    this.northX = -sinLat * cosLon;
    this.northY = -sinLat * sinLon;
    this.northZ = cosLat;
  }

  metersTo(positions: DevicePositions, device: number): number {
    const [latitude, longitude] = [positions.latitudeOf(device), positions.longitudeOf(device)];
    return haversineMeters(this.latitude, this.longitude, latitude, longitude);
  }

  /** Whether all points at a latitude are at the same distance: true if it, or the center, is a pole. */
  ignoresLongitudeAt(latitude: number): boolean {
    return Math.abs(this.latitude) === 90 || Math.abs(latitude) === 90;
  }

  bearingTo(positions: DevicePositions, device: number): number {
    const [latitude, longitude] = [positions.latitudeOf(device), positions.longitudeOf(device)];
    return initialBearingDegrees(this.latitude, this.longitude, latitude, longitude);
  }
}
