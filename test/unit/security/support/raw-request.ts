import { connect } from "node:net";
import { unlessHung } from "../../../support/hang-guard.ts";

/** A request as bytes on a connection of its own, for what no well-behaved client sends. */

export interface RawAnswer {
  /** Null where the connection was closed without a word. */
  readonly status: number | null;
  readonly body: string;
}

/** `head` is everything before the empty line, less `Host` and `Connection`; each character is one byte. */
export function sendRaw(url: string, head: string): Promise<RawAnswer> {
  const { hostname, port, host } = new URL(url);
  const [line = "", ...headers] = head.split("\r\n");
  const text = [line, `Host: ${host}`, "Connection: close", ...headers, "", ""].join("\r\n");
  const answer = new Promise<RawAnswer>((resolve) => {
    let said = "";
    const socket = connect(Number(port), hostname, () => socket.write(Buffer.from(text, "latin1")));
    socket.on("data", (bytes) => {
      said += bytes.toString("latin1");
    });
    socket.on("error", () => undefined); // Whatever came before it is the answer.
    socket.on("close", () => resolve(parsed(said)));
  });
  return unlessHung(answer, JSON.stringify(head.slice(0, 200)));
}

function parsed(said: string): RawAnswer {
  const status = /^HTTP\/1\.1 (\d{3})/.exec(said)?.[1];
  const bodyStart = said.indexOf("\r\n\r\n");
  return {
    status: status === undefined ? null : Number(status),
    body: bodyStart < 0 ? "" : said.slice(bodyStart + 4),
  };
}
