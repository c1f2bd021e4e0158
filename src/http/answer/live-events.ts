import type { View } from "../../auth/view.ts";
import { presentEvent } from "../../geofences/present-event.ts";
import type { DeviceProfiles } from "../../hot/device-profiles.ts";
import { COMMA } from "../../lib/text/ascii.ts";
import { FieldChoice } from "../../model/field-choice.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import type { EventsWriter } from "../../service/live/event-feed.ts";
import type { Changes, EventWriter } from "../../service/live/live.ts";
import type { StoredEvent } from "../../service/watching/stored-event.ts";
import type { AnswerBuffer } from "../encode/answer-buffer.ts";
import { type NamesForm, RecordNames } from "../encode/record-names.ts";
import { exampleRecord } from "../shapes/record-schemas.ts";
import { viewRecord } from "../shapes/records.ts";

/*
 * Live events as text of Server-Sent Events (WHATWG HTML §9.2). JSON contains no bare line feed, so an event's data is
 * one line, even if it is written in parts.
 */

type Bytes = Uint8Array<ArrayBuffer>;

const WHOLE = { fields: new FieldChoice("current"), localTime: null, marks: null };

/** How long clients that follow the standard wait before they reconnect. */
const RETRY_MS = 2000;

/** What an event of the stream has: the member of its data. */
export type StreamMember = "locations" | "events";

const RESETS: Readonly<Record<StreamMember, string>> = {
  locations:
    "the changes since then are no longer known: load GET /api/v1/locations/current/columns and continue reading",
  events: "this server has no such place among its events: load GET /api/v1/events and continue reading",
};

/** A comment without an event. Its id is valid to continue from; filters may have skipped entries before it. */
export function beat(id: string): Bytes {
  return encoded(beatText(id));
}

/** The first event: the reader is connected and knows all entries of the log up to this one. */
export function beginning(members: readonly StreamMember[], id: string): Bytes {
  return encoded(beginningText(members, id));
}

/** Writes events whose records look like those of current positions. */
export class LiveEventWriter implements EventWriter {
  readonly #answers: AnswerBuffer;
  readonly #onReset: () => void;
  readonly #profiles: AddedProfiles | null;

  /** Adds parts of profiles unless `profiles` is null. */
  constructor(answers: AnswerBuffer, onReset: () => void, profiles: AddedProfiles | null = null) {
    this.#answers = answers;
    this.#onReset = onReset;
    this.#profiles = profiles;
  }

  changes({ records, devices, removed, isFirst, isLast, sequence }: Changes): Bytes {
    const json = this.#answers.begin();
    for (const device of removed) json.text(removedText(records.deviceId(device), sequence));
    if (isFirst) json.text(eventBegin(sequence));
    else if (devices.length > 0) json.byte(COMMA);
    const names = namesOf(this.#profiles, records.appId);
    this.#answers.records.writeRecords(json, records, devices, { ...WHOLE, names });
    if (isLast) json.text(EVENT_END);
    return json.written().slice();
  }

  reset(sequence: number): Bytes {
    this.#onReset();
    return encoded(resetText("locations", sequence));
  }
}

/** Writes the part of events that a share link shows. */
export class ViewEventWriter implements EventWriter {
  readonly #view: View;
  readonly #onReset: () => void;
  readonly #profiles: AddedProfiles | null;

  constructor(view: View, onReset: () => void, profiles: AddedProfiles | null = null) {
    this.#view = view;
    this.#onReset = onReset;
    this.#profiles = profiles;
  }

  changes({ records, devices, removed, isFirst, isLast, sequence }: Changes): Bytes {
    const gone = Array.from(removed, (device) => removedText(records.deviceId(device), sequence)).join("");
    const names = namesOf(this.#profiles, records.appId);
    const viewRecords = Array.from(devices, (device) => ({
      ...viewRecord(this.#view, records.pageOf(device), 0, null),
      ...names?.membersOf(records.deviceId(device)),
    }));
    const begin = isFirst ? eventBegin(sequence) : viewRecords.length > 0 ? "," : "";
    return encoded(gone + begin + JSON.stringify(viewRecords).slice(1, -1) + (isLast ? EVENT_END : ""));
  }

  reset(sequence: number): Bytes {
    this.#onReset();
    return encoded(resetText("locations", sequence));
  }
}

/** Writes events of geofences and alerts. */
export class WatchEventWriter implements EventsWriter {
  readonly #onReset: () => void;
  /** Viewers of an app are told of the same events. */
  readonly #texts = new WeakMap<StoredEvent, string>();

  constructor(onReset: () => void) {
    this.#onReset = onReset;
  }

  events(events: readonly StoredEvent[], seq: number): Bytes {
    const texts = events.map((stored) => this.#textOf(stored));
    return encoded(`id: ${seq}\ndata: {"events":[${texts.join()}${EVENT_END}`);
  }

  reset(seq: number): Bytes {
    this.#onReset();
    return encoded(resetText("events", seq));
  }

  #textOf(stored: StoredEvent): string {
    let text = this.#texts.get(stored);
    if (text === undefined) {
      text = JSON.stringify(presentEvent(stored));
      this.#texts.set(stored, text);
    }
    return text;
  }
}

/** The profiles of devices, as they are whenever an event is written. */
export interface ProfileSource {
  readonly profiles: Pick<DeviceProfiles, "find">;
}

/** What is added from which profiles. */
interface AddedProfiles {
  readonly source: ProfileSource;
  readonly form: NamesForm;
}

function namesOf(added: AddedProfiles | null, appId: AppId): RecordNames | null {
  return added === null ? null : new RecordNames(added.source.profiles, appId, added.form);
}

const EVENT_END = "]}\n\n";

function eventBegin(sequence: number): string {
  return `id: ${sequence}\ndata: {"locations":[`;
}

/** Has no id, since more of the same entry follows. */
function removedText(deviceId: DeviceId, sequence: number): string {
  return `event: removed\ndata: ${JSON.stringify({ device_id: deviceId, sequence })}\n\n`;
}

function beginningText(members: readonly StreamMember[], id: string): string {
  const empty = members.map((member) => `"${member}":[]`).join();
  return `retry: ${RETRY_MS}\nid: ${id}\ndata: {${empty}}\n\n`;
}

function beatText(id: string): string {
  return `: nothing new\nid: ${id}\n\n`;
}

function resetText(member: StreamMember, sequence: number): string {
  return `event: reset\nid: ${sequence}\ndata: ${JSON.stringify({ member, message: RESETS[member] })}\n\n`;
}

export const EXAMPLE_STREAM = [
  beginningText(["locations"], "1452216"),
  `${eventBegin(1_452_217)}${JSON.stringify(exampleRecord("current"))}${EVENT_END}`,
  beatText("1452219"),
  removedText("4836" as DeviceId, 1_452_230),
  `${eventBegin(1_452_230)}${EVENT_END}`,
  resetText("locations", 1_520_001),
].join("");

function encoded(text: string): Bytes {
  return new TextEncoder().encode(text);
}
