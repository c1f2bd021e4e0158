import { JsonWriter } from "../../lib/text/json-writer.ts";
import type { Shape } from "../shapes/shape.ts";
import { EncodedRecordCache } from "./encoded-record-cache.ts";

/** What most answers fit in; longer ones get memory of their own. */
const ANSWER_BYTES_EXPECTED = 4 << 20;

/** Some 240,000 records with all their fields. Only what is written to is taken from the machine. */
const ENCODED_RECORD_BYTES = 128 << 20;

/**
 * The one buffer that all answers of a server are written into: each in one go, and the response copies it. Behind it,
 * in the same memory, lie the newest records of the hot store as answers show them.
 */
export class AnswerBuffer {
  readonly records: EncodedRecordCache;
  readonly #memory: Uint8Array<ArrayBuffer>;
  #answer: JsonWriter;

  constructor(encodedRecordBytes = ENCODED_RECORD_BYTES) {
    this.#memory = new Uint8Array(ANSWER_BYTES_EXPECTED + encodedRecordBytes);
    this.#answer = new JsonWriter(ANSWER_BYTES_EXPECTED, this.#memory);
    this.records = new EncodedRecordCache(this.#memory, ANSWER_BYTES_EXPECTED);
  }

  /** The writer of one answer, which ends when the next begins. */
  begin(): JsonWriter {
    if (this.#answer.bytes !== this.#memory) {
      this.#answer = new JsonWriter(ANSWER_BYTES_EXPECTED, this.#memory);
    }
    this.#answer.clear();
    return this.#answer;
  }

  /** A whole answer, good until the next one is begun. */
  write<Value>(shape: Shape<Value>, value: Value): Uint8Array<ArrayBuffer> {
    const json = this.begin();
    shape.write(json, value);
    return json.written();
  }
}
