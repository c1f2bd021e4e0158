import type { View } from "../../auth/view.ts";
import { COMMA } from "../../lib/text/ascii.ts";
import type { Changes, EventWriter } from "../../service/live/live.ts";
import type { AnswerBuffer } from "../encode/answer-buffer.ts";
import { exampleRecord } from "../shapes/record-schemas.ts";
import { viewRecord } from "../shapes/records.ts";

/*
 * What viewers are sent, as text of Server-Sent Events (WHATWG HTML §9.2). JSON has no bare line feed, so the data of
 * an event is one line, also where it is made in parts.
 */

type Bytes = Uint8Array<ArrayBuffer>;

/** How long clients that follow the standard wait before they connect again. */
const RETRY_MS = 2000;

const RESET = {
  message:
    "what changed meanwhile is not known any more: take GET /api/v1/locations/current/columns, and read on",
};

/** A comment and no event: there is nothing to tell. The id is good to go on from; filters may have let nothing by. */
export function beat(sequence: number): Bytes {
  return encoded(beatText(sequence));
}

/** The first event: whoever reads it is connected, and knows up to which entry of the log it has been told all. */
export function beginning(sequence: number): Bytes {
  return encoded(beginningText(sequence));
}

/** Writes events with records as answers about current positions have them. */
export class LiveEventWriter implements EventWriter {
  readonly #answers: AnswerBuffer;
  readonly #onReset: () => void;

  constructor(answers: AnswerBuffer, onReset: () => void) {
    this.#answers = answers;
    this.#onReset = onReset;
  }

  changes({ records, devices, isFirst, isLast, sequence }: Changes): Bytes {
    const json = this.#answers.begin();
    if (isFirst) json.text(eventBegin(sequence));
    else if (devices.length > 0) json.byte(COMMA);
    this.#answers.records.writeRecords(json, records, devices, null);
    if (isLast) json.text(EVENT_END);
    return json.written().slice();
  }

  reset(sequence: number): Bytes {
    this.#onReset();
    return encoded(resetText(sequence));
  }
}

/** Writes what a share link shows of events. */
export class ViewEventWriter implements EventWriter {
  readonly #view: View;
  readonly #onReset: () => void;

  constructor(view: View, onReset: () => void) {
    this.#view = view;
    this.#onReset = onReset;
  }

  changes({ records, devices, isFirst, isLast, sequence }: Changes): Bytes {
    const shown = Array.from(devices, (device) => viewRecord(this.#view, records.pageOf(device), 0, null));
    const begin = isFirst ? eventBegin(sequence) : shown.length > 0 ? "," : "";
    return encoded(begin + JSON.stringify(shown).slice(1, -1) + (isLast ? EVENT_END : ""));
  }

  reset(sequence: number): Bytes {
    this.#onReset();
    return encoded(resetText(sequence));
  }
}

const EVENT_END = "]}\n\n";

function eventBegin(sequence: number): string {
  return `id: ${sequence}\ndata: {"locations":[`;
}

function beginningText(sequence: number): string {
  return `retry: ${RETRY_MS}\nid: ${sequence}\ndata: {"locations":[]}\n\n`;
}

function beatText(sequence: number): string {
  return `: nothing new\nid: ${sequence}\n\n`;
}

function resetText(sequence: number): string {
  return `event: reset\nid: ${sequence}\ndata: ${JSON.stringify(RESET)}\n\n`;
}

/** What a viewer may read, for the document. */
export const EXAMPLE_STREAM = [
  beginningText(1_452_216),
  `${eventBegin(1_452_217)}${JSON.stringify(exampleRecord("current"))}${EVENT_END}`,
  beatText(1_452_219),
  resetText(1_520_001),
].join("");

function encoded(text: string): Bytes {
  return new TextEncoder().encode(text);
}
