import { createFragment, type Fragment } from "../../lib/text/json-writer.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import { deviceDigest } from "../../model/record-id.ts";

/** What a record says of its device, encoded. */
export interface DeviceFragment {
  /** The object from its brace to where the time of the id goes, or to the end of the app. */
  readonly head: Fragment;
  /** The end of the id, where it is shown. */
  readonly tail: Fragment;
}

/** 65,000 devices with ids as long as they come in practice. */
const BYTES_MAX = 24_000_000;
/** What two fragments take besides their text. */
const FRAGMENTS_BYTES = 300;

const NOTHING = createFragment("");
const NO_DEVICE: DeviceFragment = { head: NOTHING, tail: NOTHING };

/** Devices as one kind of response shows them, each encoded once. All are forgotten when they take too much. */
export class DeviceFragments {
  readonly #appMember: "app_id" | "appId";
  readonly #showsId: boolean;
  readonly #apps = new Map<AppId, Map<DeviceId, DeviceFragment>>();
  #bytes = 0;
  #lastAppId: AppId | null = null;
  #lastDeviceId: DeviceId | null = null;
  #last = NO_DEVICE;

  constructor(appMember: "app_id" | "appId", showsId: boolean) {
    this.#appMember = appMember;
    this.#showsId = showsId;
  }

  /** About what they take. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Neighbours in an answer are often of one device. */
  of(appId: AppId, deviceId: DeviceId): DeviceFragment {
    if (deviceId !== this.#lastDeviceId || appId !== this.#lastAppId) {
      this.#last = this.#apps.get(appId)?.get(deviceId) ?? this.#add(appId, deviceId);
      this.#lastDeviceId = deviceId;
      this.#lastAppId = appId;
    }
    return this.#last;
  }

  #add(appId: AppId, deviceId: DeviceId): DeviceFragment {
    const fragment = this.#encode(appId, deviceId);
    const bytes = FRAGMENTS_BYTES + fragment.head.bytes + fragment.tail.bytes;
    if (this.#bytes + bytes > BYTES_MAX) {
      this.#apps.clear();
      this.#bytes = 0;
    }
    let ofApp = this.#apps.get(appId);
    if (ofApp === undefined) {
      ofApp = new Map();
      this.#apps.set(appId, ofApp);
    }
    ofApp.set(deviceId, fragment);
    this.#bytes += bytes;
    return fragment;
  }

  #encode(appId: AppId, deviceId: DeviceId): DeviceFragment {
    const members = `{"device_id":${JSON.stringify(deviceId)},"${this.#appMember}":${JSON.stringify(appId)}`;
    return {
      head: createFragment(this.#showsId ? `${members},"id":"` : members),
      tail: createFragment(this.#showsId ? `${deviceDigest(appId, deviceId)}"` : ""),
    };
  }
}
