import type { AnswerCounter, Protocol } from "./connection.ts";

/*
 * The protocol of PostgreSQL, version 3, as far as one prepared statement needs it. A message is
 *
 *   | type: 1 byte | length: 4 bytes, itself included | ... |
 *
 * except for the first of a connection, which has no type.
 */

const VERSION = 3 << 16;
const STATEMENT = "question";
const HEAD_BYTES = 5;
const DATA_ROW = "D".charCodeAt(0);
const ERROR = "E".charCodeAt(0);
const READY = "Z".charCodeAt(0);
const SYNC = message("S");

/** Logs in to a server that trusts everybody, and prepares the statement. */
export function postgresProtocol(user: string, database: string, statement: string): Protocol {
  const login = Buffer.concat([int32(VERSION), texts("user", user, "database", database), Buffer.alloc(1)]);
  return {
    greeting: Buffer.concat([
      int32(login.length + 4),
      login,
      message("P", texts(STATEMENT, statement), int16(0)),
      SYNC,
    ]),
    greetingAnswers: 2,
    createCounter: createPostgresCounter,
  };
}

/** Runs the prepared statement; parameters and columns go as text. */
export function executeStatement(...parameters: readonly (string | number)[]): Buffer {
  const values = parameters.flatMap((parameter) => {
    const text = Buffer.from(String(parameter));
    return [int32(text.length), text];
  });
  return Buffer.concat([
    message("B", texts("", STATEMENT), int16(0), int16(parameters.length), ...values, int16(0)),
    message("E", texts(""), int32(0)),
    SYNC,
  ]);
}

/** An answer ends where the server is ready for the next. */
export function createPostgresCounter(): AnswerCounter {
  const head = Buffer.alloc(HEAD_BYTES);
  let headBytes = 0;
  let jump = 0; // Bytes of a message still to come.
  return {
    take(bytes) {
      let answers = 0;
      let at = 0;
      while (at < bytes.length) {
        if (jump > 0) {
          const step = Math.min(jump, bytes.length - at);
          at += step;
          jump -= step;
          if (jump === 0 && head[0] === READY) answers++;
          continue;
        }
        head[headBytes++] = bytes[at++]!;
        if (headBytes < HEAD_BYTES) continue;
        headBytes = 0;
        if (head[0] === ERROR)
          throw new Error(`the server refuses: ${Buffer.from(bytes.subarray(at, at + 300))}`);
        jump = head.readInt32BE(1) - 4;
      }
      return answers;
    },
  };
}

/** The rows of a complete answer, each column as text. */
export function parseRows(answer: Buffer): (string | null)[][] {
  const rows: (string | null)[][] = [];
  for (let at = 0; at < answer.length; at += 1 + answer.readInt32BE(at + 1)) {
    if (answer[at] === DATA_ROW) rows.push(parseRow(answer, at + HEAD_BYTES));
  }
  return rows;
}

function parseRow(answer: Buffer, start: number): (string | null)[] {
  let at = start + 2;
  return Array.from({ length: answer.readInt16BE(start) }, () => {
    const size = answer.readInt32BE(at);
    at += 4;
    if (size === -1) return null;
    at += size;
    return answer.toString("utf8", at - size, at);
  });
}

function message(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
}

function texts(...values: readonly string[]): Buffer {
  return Buffer.from(values.map((value) => `${value}\0`).join(""));
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
