import type { AnswerCounter, Protocol } from "./connection.ts";

const HEAD_END = "\r\n\r\n";

export const HTTP: Protocol = {
  greeting: new Uint8Array(),
  greetingAnswers: 0,
  createCounter: createHttpCounter,
};

/** Answers of a known length; all must have status 200. */
export function createHttpCounter(): AnswerCounter {
  let head = ""; // So far.
  let jump = 0; // Bytes of a body still to come.

  function parseHead(): void {
    if (!head.startsWith("HTTP/1.1 200")) throw new Error(`the server refuses: ${head}`);
    jump = Number(/content-length: (\d+)/i.exec(head)![1]);
    head = "";
  }

  return {
    take(bytes) {
      let answers = 0;
      let at = 0;
      while (at < bytes.length) {
        if (jump === 0) {
          const before = head.length;
          head += Buffer.from(bytes.buffer, bytes.byteOffset + at, bytes.length - at).toString("latin1");
          const end = head.indexOf(HEAD_END);
          if (end < 0) break;
          head = head.slice(0, end);
          at += end + HEAD_END.length - before;
          parseHead();
        }
        const step = Math.min(jump, bytes.length - at);
        at += step;
        jump -= step;
        if (jump === 0) answers++;
      }
      return answers;
    },
  };
}

/** The body of a complete answer. */
export function parseBody(answer: Buffer): unknown {
  return JSON.parse(answer.toString("utf8", answer.indexOf(HEAD_END) + HEAD_END.length));
}
