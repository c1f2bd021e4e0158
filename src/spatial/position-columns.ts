import type { DevicePositions } from "./center.ts";

/** Where devices are, by number; other arrays once devices have come. */
export class PositionColumns implements DevicePositions {
  latitude = new Float64Array(0);
  longitude = new Float64Array(0);

  set(device: number, latitude: number, longitude: number): void {
    if (device >= this.latitude.length) {
      const length = Math.max(device + 1, 2 * this.latitude.length);
      this.latitude = grown(this.latitude, length);
      this.longitude = grown(this.longitude, length);
    }
    this.latitude[device] = latitude;
    this.longitude[device] = longitude;
  }
}

function grown(column: Float64Array<ArrayBuffer>, length: number): Float64Array<ArrayBuffer> {
  const longer = new Float64Array(length);
  longer.set(column);
  return longer;
}
