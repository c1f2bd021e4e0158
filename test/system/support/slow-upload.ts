import { connect } from "node:net";
import type { ReferenceReport } from "../../reference/records.ts";
import type { Client } from "./client.ts";

/** A report on its way over a connection of its own, its body half sent. */
export interface SlowUpload {
  finish(): void;
  /** All that came back, once the connection is closed: by the server, or broken. */
  readonly answer: Promise<string>;
}

/** Resolves when the first half has left. */
export function beginUpload({ url, key }: Client, report: ReferenceReport): Promise<SlowUpload> {
  const { hostname, port, host } = new URL(url);
  const body = JSON.stringify({ locations: [report] });
  const head = [
    "POST /ingest/v1/locations HTTP/1.1",
    `Host: ${host}`,
    `Authorization: Bearer ${key}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    "Connection: close",
  ].join("\r\n");
  const half = body.length >> 1;
  const socket = connect(Number(port), hostname);
  const answer = new Promise<string>((resolve) => {
    let text = "";
    socket.on("data", (bytes) => {
      text += bytes;
    });
    socket.on("error", () => undefined); // Whatever came before it is the answer.
    socket.on("close", () => resolve(text));
  });
  return new Promise((resolve) => {
    socket.write(`${head}\r\n\r\n${body.slice(0, half)}`, () =>
      resolve({ finish: () => socket.write(body.slice(half)), answer }),
    );
  });
}
