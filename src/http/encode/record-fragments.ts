import { createFragment, type Fragment } from "../../lib/text/json-writer.ts";
import { fieldNamesOf } from "../../model/field-choice.ts";
import { ANONYMOUS, type AppId, type DeviceId } from "../../model/ids.ts";
import {
  type LocationField,
  PROFILE_FIELDS,
  type ResponseKind,
  STATE_FIELDS,
} from "../../model/location-fields.ts";
import { deviceDigest } from "../../model/record-id.ts";
import type { RecordDictionary } from "../../model/record-page.ts";

/* Parts of records that many records share, each encoded once: device, profile and state. */

export interface DeviceFragment {
  /** The object from its brace to the end of the app. */
  readonly head: Fragment;
  /** How many bytes of the head come before the app. */
  readonly bytesBeforeApp: number;
  /** The end of the id, after its time; empty if no record of this kind shows an id. */
  readonly idTail: Fragment;
}

/** 65,000 devices with ids of usual length. */
const BYTES_MAX = 24_000_000;
/** Memory of two fragments besides their text. */
const FRAGMENTS_BYTES = 300;

const NOTHING = createFragment("");
const NO_DEVICE: DeviceFragment = { head: NOTHING, bytesBeforeApp: 0, idTail: NOTHING };

/** Encoded devices for one kind of response. If they take too much memory, all are dropped. */
export class DeviceFragments {
  readonly #appMember: "app_id" | "appId";
  readonly #hasIds: boolean;
  readonly #apps = new Map<AppId, Map<DeviceId, DeviceFragment>>();
  #bytes = 0;
  #lastAppId: AppId | null = null;
  #lastDeviceId: DeviceId | null = null;
  #last = NO_DEVICE;

  constructor(kind: ResponseKind) {
    const names = fieldNamesOf(kind);
    this.#appMember = names.includes("app_id") ? "app_id" : "appId";
    this.#hasIds = names.includes("id");
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Caches the last device, since neighbours in an answer often have the same. */
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
    const bytes = FRAGMENTS_BYTES + fragment.head.bytes + fragment.idTail.bytes;
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
    const device = `{"device_id":${JSON.stringify(deviceId)}`;
    return {
      head: createFragment(`${device},"${this.#appMember}":${JSON.stringify(appId)}`),
      bytesBeforeApp: createFragment(device).bytes,
      idTail: this.#hasIds ? createFragment(`${deviceDigest(appId, deviceId)}"`) : NOTHING,
    };
  }
}

/** Encoded pairs of profile and state for one kind of response. */
export class EncodedTuples {
  readonly #profileMembers: readonly TupleMember[];
  readonly #stateMembers: readonly TupleMember[];
  readonly #slots: number;
  readonly #texts = new WeakMap<RecordDictionary, TupleTexts>();

  /** Caches up to `slots` pairs, a power of two. */
  constructor(isShown: (field: LocationField) => boolean, slots: number) {
    this.#slots = slots;
    this.#profileMembers = membersShown(PROFILE_FIELDS, isShown);
    this.#stateMembers = membersShown(STATE_FIELDS, isShown);
  }

  /** The pairs of a dictionary. A page looks this up once, since each lookup costs as much as a copied text. */
  of(dictionary: RecordDictionary): TupleTexts {
    let texts = this.#texts.get(dictionary);
    if (texts === undefined) {
      texts = new TupleTexts(this.#slots, (profile, state) => this.#encode(dictionary, profile, state));
      this.#texts.set(dictionary, texts);
    }
    return texts;
  }

  #encode(dictionary: RecordDictionary, profile: number, state: number): Uint8Array {
    const claimed = (member: number) => dictionary.profileText(profile, member) ?? UNCLAIMED[member]!;
    const json =
      encodeMembers(this.#profileMembers, claimed) +
      encodeMembers(this.#stateMembers, (member) => dictionary.stateText(state, member));
    return new TextEncoder().encode(json);
  }
}

/** Defaults for missing members, which also apply to a late report whose archived record can't be read. */
const UNCLAIMED = PROFILE_FIELDS.map(({ name }) => (name === "user_id" ? ANONYMOUS : null));

interface TupleMember {
  readonly index: number;
  readonly name: string;
  readonly isBoolean: boolean;
}

function membersShown(
  fields: readonly LocationField[],
  isShown: (field: LocationField) => boolean,
): readonly TupleMember[] {
  return fields.flatMap((field, index) =>
    isShown(field) ? [{ index, name: field.name, isBoolean: field.type === "boolean" }] : [],
  );
}

function encodeMembers(members: readonly TupleMember[], textOf: (member: number) => string | null): string {
  let json = "";
  for (const { index, name, isBoolean } of members) {
    const text = textOf(index);
    if (text !== null) json += `,"${name}":${isBoolean ? text : JSON.stringify(text)}`;
  }
  return json;
}

/** Usual pairs with all members take about 8 MB. */
export const TUPLES_CACHED = 16_384;
/** For some of the members, of which fewer pairs differ. */
export const CHOSEN_TUPLES_CACHED = 1024;
/** Longer texts are not cached, which limits the memory to 16 MB, or 1 MB. */
const TUPLE_BYTES_CACHED = 1024;

/**
 * Texts by profile and state; a new one replaces the old one in its slot, which bounds the cache without bookkeeping.
 * Both are one text, since one copy of both costs little more than one of either.
 */
export class TupleTexts {
  readonly #profiles: Int32Array;
  readonly #states: Int32Array;
  readonly #texts: Uint8Array[] = [];
  readonly #encode: (profile: number, state: number) => Uint8Array;

  constructor(slots: number, encode: (profile: number, state: number) => Uint8Array) {
    this.#profiles = new Int32Array(slots).fill(-1);
    this.#states = new Int32Array(slots);
    this.#encode = encode;
  }

  /** All shown members of a profile and a state, with a comma before each. */
  of(profile: number, state: number): Uint8Array {
    const slot = this.#slotOf(profile, state);
    if (this.#profiles[slot] === profile && this.#states[slot] === state) return this.#texts[slot]!;
    const text = this.#encode(profile, state);
    if (text.length <= TUPLE_BYTES_CACHED) {
      this.#profiles[slot] = profile;
      this.#states[slot] = state;
      this.#texts[slot] = text;
    }
    return text;
  }

  /** Both numbers are assigned consecutively; the odd factor separates a profile's states from its neighbours'. */
  #slotOf(profile: number, state: number): number {
    return (Math.imul(profile, 0x9e3779b1) + state) & (this.#profiles.length - 1);
  }
}
