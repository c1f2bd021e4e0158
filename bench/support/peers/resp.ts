import type { AnswerCounter, Protocol } from "./connection.ts";

/** The protocol of Redis and Tile38, version 2, as far as the benches need it. */
export type RespValue = string | number | null | readonly RespValue[];

const [STRING, ERROR, INTEGER, BULK, ARRAY] = [..."+-:$*"].map((sign) => sign.charCodeAt(0));
const MINUS = 0x2d;
const LINE_END = 0x0a;
const CR_LF = "\r\n";

export const RESP: Protocol = {
  greeting: new Uint8Array(),
  greetingAnswers: 0,
  createCounter: createRespCounter,
};

/** A command as an array of bulk strings. */
export function encodeCommand(...parts: readonly (string | number)[]): Buffer {
  const texts = parts.map(String);
  const bulks = texts.map((text) => `$${Buffer.byteLength(text)}${CR_LF}${text}${CR_LF}`);
  return Buffer.from(`*${texts.length}${CR_LF}${bulks.join("")}`);
}

/** Follows lengths alone, wherever the pieces of an answer are cut; strings are jumped over. */
export function createRespCounter(): AnswerCounter {
  let open = 0; // Values still to come, until the answer is complete.
  let kind = 0; // Of the line being read; 0 before its first byte.
  let length = 0;
  let isNull = false;
  let jump = 0; // Bytes of a bulk string still to come, its line end included.

  function endLine(): void {
    const isBulk = kind === BULK && !isNull;
    const isArray = kind === ARRAY && !isNull;
    kind = 0;
    if (isBulk) {
      jump = length + CR_LF.length;
      return;
    }
    if (isArray) open += length;
    open--;
  }

  return {
    take(bytes) {
      let answers = 0;
      let at = 0;
      while (at < bytes.length) {
        if (jump > 0) {
          const step = Math.min(jump, bytes.length - at);
          at += step;
          jump -= step;
          if (jump === 0 && --open === 0) answers++;
          continue;
        }
        const byte = bytes[at++]!;
        if (kind === 0) {
          if (byte === ERROR)
            throw new Error(`the server refuses: ${Buffer.from(bytes.subarray(at, at + 200))}`);
          if (open === 0) open = 1;
          kind = byte;
          length = 0;
          isNull = false;
        } else if (byte === LINE_END) {
          endLine();
          if (open === 0) answers++;
        } else if (byte === MINUS) {
          isNull = true;
        } else if (byte >= 0x30 && byte <= 0x39) {
          length = length * 10 + byte - 0x30;
        }
      }
      return answers;
    },
  };
}

/** Reads one complete answer. */
export function parseResp(answer: Buffer): RespValue {
  let at = 0;

  function line(): string {
    const end = answer.indexOf(CR_LF, at);
    const text = answer.toString("utf8", at, end);
    at = end + CR_LF.length;
    return text;
  }

  function value(): RespValue {
    const kind = answer[at++];
    const text = line();
    if (kind === STRING) return text;
    if (kind === INTEGER) return Number(text);
    if (kind === ARRAY) return text === "-1" ? null : Array.from({ length: Number(text) }, value);
    if (kind !== BULK) throw new Error(`the server refuses: ${text}`);
    if (text === "-1") return null;
    const start = at;
    at += Number(text) + CR_LF.length;
    return answer.toString("utf8", start, at - CR_LF.length);
  }

  return value();
}
