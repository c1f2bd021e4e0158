import type { Api } from "../api/api.ts";
import { sentenceOf } from "../api/api-error.ts";
import { type Change, changeMembers, HIDE } from "./change.ts";
import {
  type CorrectionRecord,
  countRecords,
  noteMembers,
  RequestKeys,
  sendCorrection,
} from "./correction-requests.ts";
import { recordsOf, type Selection } from "./selection.ts";

/* From a selection to positions that are hidden, shifted in time or given away. */

interface ConfirmingParts {
  readonly api: Pick<Api, "send">;
  readonly onDone: (correction: CorrectionRecord, selection: Selection) => void;
  readonly changed: () => void;
}

/** What the user is asked to confirm. */
export interface Confirmation {
  readonly deviceId: string;
  readonly selection: Selection;
  readonly change: Change;
  /** How many records there are; null until the server has counted those of a simplified track. */
  readonly records: number | null;
  readonly isSending: boolean;
  readonly fault: string | null;
}

/** Asks the user before positions are corrected, and corrects them. */
export class Confirming {
  readonly #parts: ConfirmingParts;
  readonly #keys = new RequestKeys();
  #confirmation: Confirmation | null = null;
  /** Why the positions are corrected, for other users. */
  note = "";

  constructor(parts: ConfirmingParts) {
    this.#parts = parts;
  }

  get confirmation(): Confirmation | null {
    return this.#confirmation;
  }

  ask(deviceId: string, selection: Selection, change: Change = HIDE): void {
    const records = selection.isExact ? selection.timestampMs.length : null;
    this.#confirmation = { deviceId, selection, change, records, isSending: false, fault: null };
    this.note = "";
    this.#keys.forget();
    this.#parts.changed();
    if (records === null) void this.#count(this.#confirmation);
  }

  /** The user wants another change, or has said more about it. */
  set(change: Change): void {
    if (this.#confirmation === null || this.#confirmation.isSending) return;
    this.#confirmation = { ...this.#confirmation, change, fault: null };
    this.#parts.changed();
  }

  cancel(): void {
    this.#confirmation = null;
    this.#parts.changed();
  }

  /** Does what the user has confirmed. */
  async send(): Promise<void> {
    const confirmation = this.#confirmation;
    const members = confirmation === null ? null : changeMembers(confirmation.change);
    if (confirmation === null || members === null || confirmation.isSending || confirmation.records === null)
      return;
    const sending: Confirmation = { ...confirmation, isSending: true, fault: null };
    this.#confirmation = sending;
    this.#parts.changed();
    const { deviceId, selection } = confirmation;
    const body = { ...members, ...recordsOf(deviceId, selection), ...noteMembers(this.note) };
    try {
      const correction = await sendCorrection(this.#parts.api, body, this.#keys.keyOf(body));
      if (this.#confirmation === sending) this.#confirmation = null;
      this.#parts.onDone(correction, selection);
    } catch (error) {
      if (this.#confirmation === sending) this.#confirmation = { ...confirmation, fault: sentenceOf(error) };
    }
    this.#parts.changed();
  }

  async #count(asked: Confirmation): Promise<void> {
    let counted: Partial<Confirmation>;
    try {
      const body = { action: "hide", ...recordsOf(asked.deviceId, asked.selection) } as const;
      counted = { records: await countRecords(this.#parts.api, body) };
    } catch (error) {
      counted = { fault: sentenceOf(error) };
    }
    const now = this.#confirmation;
    if (now === null || now.selection !== asked.selection) return;
    this.#confirmation = { ...now, ...counted };
    this.#parts.changed();
  }
}
