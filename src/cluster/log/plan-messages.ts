import type { RefusedPiece } from "../../model/quarantine-entry.ts";
import { halvesOf } from "../../wal/batch-parts.ts";
import { createEntryEncoder, type NewEntry, reportsIn } from "../../wal/entry/entry.ts";
import {
  ENTRY_LENGTH_BYTES,
  encodeGroup,
  MESSAGE_ENTRIES_MAX,
  MESSAGE_HEAD_BYTES,
  MessageError,
} from "./group-message.ts";

export interface PlannedMessage {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly entries: number;
  readonly records: number;
}

/**
 * Packs entries into messages, in order and deterministically: the same entries and length give the same messages. A
 * batch or a piece that is too large for a message is split. Throws a `MessageError` if a single report is too long.
 */
export async function* planMessages(
  entries: AsyncIterable<NewEntry>,
  messageBytesMax: number,
): AsyncGenerator<PlannedMessage, void> {
  const encoder = createEntryEncoder();
  const framesBytesMax = messageBytesMax - MESSAGE_HEAD_BYTES;
  let group = new Group();
  for await (const entry of entries) {
    for (const { frame, records } of framesOf(entry)) {
      if (!group.hasRoomFor(frame, framesBytesMax)) {
        yield group.message();
        group = new Group();
      }
      group.add(frame, records);
    }
  }
  if (group.hasEntries) yield group.message();

  function* framesOf(entry: NewEntry): Generator<{ frame: Frame; records: number }> {
    const frame = encoder.encodeEntry(entry, ENTRY_LENGTH_BYTES);
    const records = reportsIn(entry);
    if (frame.length <= framesBytesMax) {
      yield { frame, records };
      return;
    }
    if (entry.kind === "refused_piece" && entry.bytes.length > 1) {
      for (const half of halvesOfPiece(entry)) yield* framesOf(half);
      return;
    }
    if (entry.kind !== "reports" || records === 1)
      throw new MessageError(
        `An entry (${entry.kind === "reports" ? "a report" : entry.kind.replaceAll("_", " ")}) takes ${frame.length} bytes, but the servers accept messages of at most ${messageBytesMax}: ` +
          "set a larger max_payload.",
      );
    for (const half of halvesOf(entry.batch)) yield* framesOf({ ...entry, batch: half });
  }
}

function halvesOfPiece(piece: RefusedPiece): readonly RefusedPiece[] {
  const half = Math.ceil(piece.bytes.length / 2);
  const rest = { ...piece, start: piece.start + half, bytes: piece.bytes.subarray(half) };
  return [{ ...piece, bytes: piece.bytes.subarray(0, half) }, rest];
}

type Frame = Uint8Array<ArrayBuffer>;

/** The entries of one message. */
class Group {
  readonly #frames: Frame[] = [];
  #bytes = 0;
  #records = 0;

  get hasEntries(): boolean {
    return this.#frames.length > 0;
  }

  hasRoomFor(frame: Frame, bytesMax: number): boolean {
    if (!this.hasEntries) return true;
    return this.#frames.length < MESSAGE_ENTRIES_MAX && this.#bytes + frame.length <= bytesMax;
  }

  add(frame: Frame, records: number): void {
    this.#frames.push(frame);
    this.#bytes += frame.length;
    this.#records += records;
  }

  message(): PlannedMessage {
    return { bytes: encodeGroup(this.#frames), entries: this.#frames.length, records: this.#records };
  }
}
