import type { View } from "../../auth/view.ts";
import type { AppDevices } from "../../hot/app-devices.ts";

/**
 * What the viewer of a share link was told of each device. A report that changes nothing of what the link shows is not
 * told: that one came would tell what the link doesn't.
 */
export class ToldRecords {
  readonly #view: View;
  /** By id. A link has a thousand devices at most. */
  readonly #told = new Map<string, string>();

  constructor(view: View) {
    this.#view = view;
  }

  /** Those of the devices that are shown otherwise than they were told. */
  findNews(app: AppDevices, devices: Uint32Array): Uint32Array {
    return devices.filter(
      (device) => this.#told.get(app.table.byNumber(device).id) !== this.#shown(app, device),
    );
  }

  /** The devices are told as they are now. */
  note(app: AppDevices, devices: Uint32Array): void {
    for (const device of devices) this.#told.set(app.table.byNumber(device).id, this.#shown(app, device));
  }

  /** The viewer starts anew. */
  clear(): void {
    this.#told.clear();
  }

  #shown({ positions, newestTimes }: AppDevices, device: number): string {
    const { byDevice } = positions;
    const point = this.#view.pointOf(byDevice.latitudeOf(device), byDevice.longitudeOf(device));
    return `${this.#view.timeOf(newestTimes.of(device))} ${point.latitude} ${point.longitude}`;
  }
}
