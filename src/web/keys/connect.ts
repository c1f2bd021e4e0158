import type { Api } from "../api/api.ts";
import { sentenceOf } from "../api/api-error.ts";
import type { Units } from "../geo/units.ts";
import type { Copying } from "./copying.ts";
import { FirstReport, type KnownDevices } from "./first-report.ts";
import type { PageKey, PageKeys } from "./page-keys.ts";

/** An app that reports to the server. */
export interface PhoneApp {
  readonly name: string;
  /** Its name for `POST /map/keys`. */
  readonly client: string;
  /** What it runs on or is for. */
  readonly on: string;
}

/** The easiest to set up first. */
export const PHONE_APPS: readonly PhoneApp[] = [
  { name: "OwnTracks", client: "owntracks", on: "Android, iOS" },
  { name: "Overland", client: "overland", on: "iOS" },
  { name: "Traccar Client", client: "traccar", on: "Android, iOS" },
  { name: "Colota", client: "colota", on: "Android" },
  { name: "GPSLogger", client: "gpslogger", on: "Android" },
  { name: "OsmAnd", client: "osmand", on: "Android" },
  { name: "PhoneTrack", client: "phonetrack", on: "other loggers" },
  { name: "Home Assistant", client: "homeassistant", on: "its phone app" },
  { name: "OpenGTS", client: "opengts", on: "old trackers" },
  { name: "curl", client: "curl", on: "your programs" },
];

const LOOPBACK = /^(localhost|127\.[\d.]+|\[::1\])$/;

/** Whether a host name means, on a phone, the phone itself. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

/** The server's instructions for an app and its key. */
export interface PhoneSetup {
  /** The screen of the app that has the fields. */
  readonly place: string;
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  /** Text for a file or a shell. */
  readonly paste: string | null;
  /** The content of a QR code. */
  readonly qr: string | null;
  /** Whether the phone's camera opens the app; otherwise the app has to scan the code. */
  readonly qr_opens_app: boolean;
  readonly notes: readonly string[];
}

export interface MadePhone {
  readonly key: PageKey;
  readonly text: string;
  readonly setup: PhoneSetup;
}

interface ConnectParts {
  readonly api: Pick<Api, "get">;
  readonly keys: PageKeys;
  readonly copying: Copying;
  readonly devices: KnownDevices;
  readonly zones: { readonly zone: string };
  readonly settings: { readonly units: Units };
  readonly location: { readonly origin: string; readonly hostname: string };
  readonly changed: () => void;
}

/** Connects a phone in three steps: its app and name, its settings, its first report. */
export class Connect {
  readonly #parts: ConnectParts;
  readonly report: FirstReport;
  isOpen = false;
  app: PhoneApp = PHONE_APPS[0]!;
  isMaking = false;
  fault: string | null = null;
  /** The phone that is being connected. Its key is shown once, since the server stores only a hash. */
  made: MadePhone | null = null;
  #typedName: string | null = null;
  /** Counts restarts, so that the answer to an earlier request is dropped. */
  #round = 0;

  constructor(parts: ConnectParts) {
    this.#parts = parts;
    this.report = new FirstReport(parts);
  }

  /** The name that the user typed, else an unused one: two phones with the same name would be one device. */
  get deviceName(): string {
    return this.#typedName ?? this.#freeName();
  }

  set deviceName(name: string) {
    this.#typedName = name;
  }

  get keys(): PageKeys {
    return this.#parts.keys;
  }

  get copying(): Copying {
    return this.#parts.copying;
  }

  get zone(): string {
    return this.#parts.zones.zone;
  }

  get units(): Units {
    return this.#parts.settings.units;
  }

  get location(): { readonly origin: string; readonly hostname: string } {
    return this.#parts.location;
  }

  open(): void {
    this.isOpen = true;
    this.#parts.changed();
    void this.keys.load();
  }

  close(): void {
    this.isOpen = false;
    this.restart();
  }

  choose(app: PhoneApp): void {
    this.app = app;
    this.#parts.changed();
  }

  /** Returns to the first step, for another phone. */
  restart(): void {
    this.#round++;
    this.report.end();
    if (this.made !== null) this.#typedName = null;
    this.made = null;
    this.isMaking = false;
    this.fault = null;
    this.#parts.changed();
  }

  async make(): Promise<void> {
    const { keys, location, changed } = this.#parts;
    const deviceId = this.deviceName.trim();
    const round = this.#round;
    this.isMaking = true;
    this.fault = null;
    changed();
    try {
      const phone = await keys.make<MadePhone>({
        kind: "phone",
        client: this.app.client,
        device_id: deviceId,
        url: location.origin,
        label: this.app.name,
      });
      if (round !== this.#round) return; // The key is in the list, where it can be revoked.
      this.made = phone;
      this.report.begin({ ...phone.key, device_id: deviceId });
    } catch (error) {
      if (round !== this.#round) return;
      this.fault = sentenceOf(error);
    }
    this.isMaking = false;
    changed();
  }

  /** A name that no device and no phone's key has. */
  #freeName(): string {
    const phones = this.keys.ofKind("phone", Date.now()) ?? [];
    const phoneNames = new Set(phones.map(({ device_id }) => device_id));
    for (let number = 1; ; number++) {
      const name = `phone-${number}`;
      if (this.#parts.devices.rowOf(name) === undefined && !phoneNames.has(name)) return name;
    }
  }
}
