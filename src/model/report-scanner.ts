import { Buffer } from "node:buffer";
import { TextSet } from "../lib/tables/text-set.ts";
import { CLOSE_BRACE, COLON, COMMA, OPEN_BRACE, QUOTE } from "../lib/text/ascii.ts";
import { FALS, JsonScan, NULL, TRUE } from "../lib/text/json-scan.ts";
import {
  NUMBER_FIELDS,
  PROFILE_FIELDS,
  REPORT_FIELDS,
  STATE_FIELDS,
  type StoredField,
} from "./location-fields.ts";
import { type AcceptedTimes, isOpenText, textFault, timestampFault } from "./report.ts";
import { NOT_CARRIED, type ReportBatchBuilder } from "./report-batch.ts";

/*
 * Reads the reports of a JSON text from its bytes into a batch, with no object per report. A sender's reports are
 * mostly alike, so the bytes between two values are compared with those of the report before, and so are texts.
 * Anything unusual, valid or not, is left to a parser and `addReport`.
 */

/* How a member's value is read. */
const NUMBER = 0;
const TEXT = 1;
const BOOLEAN = 2;
const TIMESTAMP = 3;
const DEVICE = 4;
/** Not a field: read and dropped. */
const UNKNOWN = 5;

interface Member {
  readonly kind: number;
  readonly field: StoredField | null;
  /** The number column or tuple member of the batch. */
  readonly index: number;
  readonly minimum: number;
  readonly maximum: number;
  readonly isState: boolean;
  /** Whether every text of printable ASCII is valid. */
  readonly isOpen: boolean;
  /** 1 if every report must have it, else 0. */
  readonly required: number;
}

/** A member seen in the reports so far, in their order. */
interface Slot {
  readonly member: Member;
  /** The number of the last report that had it, from 1. */
  report: number;
  /** Position of its last name, which includes everything before the value except a comma. */
  nameAt: number;
  nameBytes: number;
  /** Position of its last text or boolean in this batch, and that value's index; 0 bytes if there is none. */
  valueAt: number;
  valueBytes: number;
  text: number;
}

export class ReportScanner {
  readonly #json: JsonScan;
  readonly #times: AcceptedTimes;
  readonly #slots: Slot[] = [];
  /** How many reports `read` has begun. */
  #reports = 0;
  #batch: ReportBatchBuilder | null = null;
  #deviceText = 0;
  #timestampMs = 0;

  constructor(body: Uint8Array, times: AcceptedTimes) {
    this.#json = new JsonScan(body);
    this.#times = times;
  }

  /**
   * Reads the report that begins at `start` and ends before `end` into the batch's scratch row. Returns the position
   * after it, or -1 if a parser must read it.
   */
  read(start: number, end: number, batch: ReportBatchBuilder): number {
    if (batch !== this.#batch) this.#begin(batch);
    batch.begin();
    const json = this.#json;
    const slots = this.#slots;
    const { bytes } = json;
    const report = ++this.#reports;
    let at = start;
    let required = 0;
    let next = 0;
    for (let separator = OPEN_BRACE; ; separator = COMMA) {
      if (bytes[at] !== separator) {
        at = json.afterBlanks(at);
        if (bytes[at] === CLOSE_BRACE && separator === COMMA) break;
        if (bytes[at] !== separator) return -1;
      }
      at++;
      let slot = slots[next];
      if (slot === undefined || at + slot.nameBytes >= end || !json.isSame(slot.nameAt, at, slot.nameBytes)) {
        next = this.#findSlot(at, end, next);
        if (next < 0) return -1;
        slot = slots[next]!;
      }
      next++;
      const { kind, minimum, maximum, index } = slot.member;
      if (slot.report === report && kind !== UNKNOWN) return -1; // The last of repeated members counts.
      slot.report = report;
      required += slot.member.required;
      at += slot.nameBytes;
      // Most values are numbers or repeat the last one. Function calls here would cost a fifteenth of the total time.
      const { valueBytes } = slot;
      if (kind === NUMBER) {
        const value = json.number(at);
        if (value >= minimum && value <= maximum)
          batch.numbers[index] = value + 0; // -0 becomes 0, as JSON shows it.
        else if (!this.#isOptionalNull(slot.member, at)) return -1;
        at = json.end;
      } else if (valueBytes > 0 && at + valueBytes < end && json.isSame(slot.valueAt, at, valueBytes)) {
        this.#setText(slot, batch);
        at += valueBytes;
      } else {
        if (!this.#readOther(slot, at, batch)) return -1;
        at = json.end;
      }
    }
    return required === REQUIRED_FIELDS && at < end ? at + 1 : -1;
  }

  addRow(batch: ReportBatchBuilder): void {
    batch.add(this.#deviceText, this.#timestampMs);
  }

  #begin(batch: ReportBatchBuilder): void {
    this.#batch = batch;
    for (const slot of this.#slots) slot.valueBytes = 0; // Another batch has other indexes.
  }

  /** Finds the slot of the member whose name, or the blanks before it, begin at `at`; -1 if a parser must decide. */
  #findSlot(at: number, end: number, expected: number): number {
    const slots = this.#slots;
    for (let index = expected + 1; index < slots.length; index++) {
      const { nameAt, nameBytes } = slots[index]!;
      if (at + nameBytes < end && this.#json.isSame(nameAt, at, nameBytes)) return index;
    }
    return this.#readName(at, end, expected);
  }

  /** Like `#findSlot`, but looks the name up; inserts a slot for a new name at `expected`. */
  #readName(at: number, end: number, expected: number): number {
    const json = this.#json;
    const { bytes } = json;
    const quote = json.afterBlanks(at);
    const nameEnd = bytes[quote] === QUOTE ? json.textEnd(quote + 1, TEXT_BYTES_MAX) : -1;
    const colon = nameEnd < 0 ? -1 : json.afterBlanks(nameEnd + 1);
    if (colon < 0 || bytes[colon] !== COLON || !json.isPrintable) return -1;
    const nameBytes = json.afterBlanks(colon + 1) - at;
    if (at + nameBytes >= end) return -1;
    const member = MEMBERS[NAMES.findAscii(bytes, quote + 1, nameEnd)]!;
    const slots = this.#slots;
    const known = member === NO_FIELD ? -1 : slots.findIndex((slot) => slot.member === member);
    if (known >= 0) {
      slots[known]!.nameAt = at;
      slots[known]!.nameBytes = nameBytes;
      return known;
    }
    if (slots.length === SLOTS_MAX) return -1;
    slots.splice(expected, 0, {
      member,
      report: 0,
      nameAt: at,
      nameBytes,
      valueAt: 0,
      valueBytes: 0,
      text: 0,
    });
    return expected;
  }

  /** Reads a value that is not a number and does not repeat; false if it is not plain and valid. */
  #readOther(slot: Slot, at: number, batch: ReportBatchBuilder): boolean {
    const json = this.#json;
    const { member } = slot;
    if (member.kind === UNKNOWN) return this.#skipValue(at);
    if (member.kind === TIMESTAMP) {
      this.#timestampMs = json.number(at);
      return timestampFault(this.#timestampMs, this.#times) === null;
    }
    const text = member.kind === BOOLEAN ? this.#booleanAt(at, batch) : this.#textAt(at, member, batch);
    if (text === NOT_CARRIED) return this.#isOptionalNull(member, at);
    slot.text = text;
    slot.valueAt = at;
    slot.valueBytes = json.end - at;
    this.#setText(slot, batch);
    return true;
  }

  #setText({ member, text }: Slot, batch: ReportBatchBuilder): void {
    if (member.kind === DEVICE) this.#deviceText = text;
    else (member.isState ? batch.state : batch.profile)[member.index] = text;
  }

  #booleanAt(at: number, batch: ReportBatchBuilder): number {
    return this.#readBoolean(at) ? batch.asciiText(this.#json.bytes, at, this.#json.end) : NOT_CARRIED;
  }

  /** The batch's index of a text that is valid for this member, else `NOT_CARRIED`. */
  #textAt(at: number, { field, isOpen }: Member, batch: ReportBatchBuilder): number {
    const json = this.#json;
    const start = at + 1;
    const textEnd = json.bytes[at] === QUOTE ? json.textEnd(start, TEXT_BYTES_MAX) : -1;
    if (textEnd < 0) return NOT_CARRIED;
    json.end = textEnd + 1;
    if (json.isPrintable) {
      const text = batch.asciiText(json.bytes, start, textEnd);
      return isOpen || textFault(field!, batch.textAt(text)) === null ? text : NOT_CARRIED;
    }
    const text = json.text(start, textEnd);
    return text === null || textFault(field!, text) !== null ? NOT_CARRIED : batch.text(text);
  }

  #readBoolean(at: number): boolean {
    const json = this.#json;
    const isTrue = json.isWord(at, TRUE);
    json.end = isTrue ? at + 4 : at + 5;
    return isTrue || (json.isWord(at, FALS) && json.bytes[at + 4] === LETTER_E);
  }

  /** Whether the value is null and the member optional. */
  #isOptionalNull({ required }: Member, at: number): boolean {
    this.#json.end = at + 4;
    return required === 0 && this.#json.isWord(at, NULL);
  }

  #skipValue(at: number): boolean {
    const json = this.#json;
    if (json.bytes[at] === QUOTE) {
      json.end = 1 + json.textEnd(at + 1, TEXT_BYTES_MAX);
      return json.end > 0 && (json.isPrintable || json.text(at + 1, json.end - 1) !== null);
    }
    return !Number.isNaN(json.number(at)) || this.#readBoolean(at) || this.#isOptionalNull(NO_FIELD, at);
  }
}

const TEXT_BYTES_MAX = Math.max(...REPORT_FIELDS.map(({ charactersMax = 0 }) => charactersMax));
/** About twice the number of fields: a report with more members is not a location report. */
const SLOTS_MAX = 64;

const NO_FIELD: Member = {
  kind: UNKNOWN,
  field: null,
  index: -1,
  minimum: 0,
  maximum: 0,
  isState: false,
  isOpen: true,
  required: 0,
};
const NAMES = new TextSet(REPORT_FIELDS.length);
/** By the number of the name; other names are not fields. */
const MEMBERS: readonly Member[] = [NO_FIELD, ...REPORT_FIELDS.map(memberOf)];
for (const { name } of REPORT_FIELDS) NAMES.addAscii(Buffer.from(name), 0, name.length);
const REQUIRED_FIELDS = MEMBERS.reduce((count, { required }) => count + required, 0);

function memberOf(field: StoredField): Member {
  const { column, type, minimum = 0, maximum = 0 } = field;
  const common = {
    field,
    minimum,
    maximum,
    isState: column === "state",
    isOpen: type === "string" && isOpenText(field),
    required: Number(field.required === true),
  };
  switch (column) {
    case "device":
      return { ...common, kind: DEVICE, index: -1 };
    case "timestamp":
      return { ...common, kind: TIMESTAMP, index: -1 };
    case "number":
      return { ...common, kind: NUMBER, index: NUMBER_FIELDS.indexOf(field) };
    default: {
      const fields = column === "state" ? STATE_FIELDS : PROFILE_FIELDS;
      return { ...common, kind: type === "boolean" ? BOOLEAN : TEXT, index: fields.indexOf(field) };
    }
  }
}

const LETTER_E = 0x65;
