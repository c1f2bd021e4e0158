import { JsonWriter } from "../../lib/text/json-writer.ts";
import { RecordTexts } from "./record-texts.ts";

/** What most answers fit in; longer ones get memory of their own. */
const ANSWER_BYTES_EXPECTED = 4 << 20;

/** Some 270,000 records with all their fields. Only what is written to is taken from the machine. */
const RECORD_TEXTS_BYTES = 128 << 20;

/** One buffer serves all answers: each is written in one go, and the response copies it. */
const memory = new Uint8Array(ANSWER_BYTES_EXPECTED + RECORD_TEXTS_BYTES);
let answer = new JsonWriter(ANSWER_BYTES_EXPECTED, memory);

/** Texts of newest records, behind the answers in the same buffer. */
export const recordTexts = new RecordTexts(memory, ANSWER_BYTES_EXPECTED);

/** The writer of one answer, which ends when the next begins. */
export function beginAnswer(): JsonWriter {
  if (answer.bytes !== memory) answer = new JsonWriter(ANSWER_BYTES_EXPECTED, memory);
  answer.clear();
  return answer;
}
