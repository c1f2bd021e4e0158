import type { Api } from "../api/api.ts";
import { sentenceOf } from "../api/api-error.ts";
import type { Copying } from "./copying.ts";
import { FirstReport, type KnownDevices } from "./first-report.ts";
import type { PageKey, PageKeys } from "./page-keys.ts";

/** An app that reports to the server, by the name that people look for. */
export interface PhoneApp {
  readonly name: string;
  /** The name that `POST /map/keys` takes. */
  readonly client: string;
  /** What it runs on, or what it is for. */
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

/** Hosts that mean, on a phone, the phone itself. */
const LOOPBACK = /^(localhost|127\.[\d.]+|\[::1\])$/;

/** Whether no phone can reach a server that goes by this name. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

/** How an app is set up with a key, as the server says it. */
export interface PhoneSetup {
  /** Where in the app the fields are. */
  readonly place: string;
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  /** What goes into a file, or a shell, as it is. */
  readonly paste: string | null;
  /** What a code for the phone's camera holds. */
  readonly qr: string | null;
  /** Whether the phone opens the app for it; else it has to be scanned in the app. */
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
  /** The phone that is being connected; its key is shown once, since the server keeps no more than a hash of it. */
  made: MadePhone | null = null;
  #writtenName: string | null = null;
  /** Counts how often it began anew: an answer to a request of an earlier round is dropped. */
  #round = 0;

  constructor(parts: ConnectParts) {
    this.#parts = parts;
    this.report = new FirstReport(parts);
  }

  /** The name that the user wrote, or else a free one: two phones with one name would be one device. */
  get deviceName(): string {
    return this.#writtenName ?? this.#freeName();
  }

  set deviceName(name: string) {
    this.#writtenName = name;
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

  /** Back to the first step, for another phone. */
  restart(): void {
    this.#round++;
    this.report.end();
    if (this.made !== null) this.#writtenName = null;
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
      const made = await keys.make<MadePhone>({
        kind: "phone",
        client: this.app.client,
        device_id: deviceId,
        url: location.origin,
        label: this.app.name,
      });
      if (round !== this.#round) return; // The key is in the list, where it can be revoked.
      this.made = made;
      this.report.begin({ ...made.key, device_id: deviceId });
    } catch (error) {
      if (round !== this.#round) return;
      this.fault = sentenceOf(error);
    }
    this.isMaking = false;
    changed();
  }

  /** A name that no device has, and that no phone has been given a key for. */
  #freeName(): string {
    const phones = this.keys.ofKind("phone", Date.now()) ?? [];
    const given = new Set(phones.map(({ device_id }) => device_id));
    for (let number = 1; ; number++) {
      const name = `phone-${number}`;
      if (this.#parts.devices.rowOf(name) === undefined && !given.has(name)) return name;
    }
  }
}
