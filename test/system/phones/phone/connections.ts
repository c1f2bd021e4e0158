import { connect, type Socket } from "node:net";
import { pause } from "../../support/pause.ts";
import { type HttpAnswer, readAnswer } from "./http-answer.ts";

/** What a phone sends. */
export interface PhoneRequest {
  readonly method: "GET" | "POST";
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null sends none, and no length of it either. */
  readonly body: string | null;
}

export type Outcome =
  | ({ readonly kind: "answer" } & HttpAnswer)
  /** Nothing came back, or not all: refused, cut, or too late. What was sent may have arrived or not. */
  | { readonly kind: "failure"; readonly why: string };

/**
 * The connections of one phone. They are written by hand, since every client library here sends a request again by
 * itself where a kept connection breaks, and what becomes of a request that was sent once is the question.
 */
export interface Connections {
  exchange(request: PhoneRequest, timeoutMs: number): Promise<Outcome>;
  /** Breaks what is under way, as a phone does that is switched off. */
  close(): void;
}

export function openConnections(url: string): Connections {
  const { hostname, port, host } = new URL(url);
  const idle: Socket[] = [];
  const busy = new Set<Socket>();

  function open(): Socket {
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    socket.on("error", () => undefined); // "close" follows.
    socket.on("close", () => {
      const index = idle.indexOf(socket);
      if (index !== -1) idle.splice(index, 1);
    });
    return socket;
  }

  function exchange(request: PhoneRequest, timeoutMs: number): Promise<Outcome> {
    const socket = idle.pop() ?? open();
    busy.add(socket);
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const pieces: Buffer[] = [];
    const onData = (bytes: Buffer) => {
      pieces.push(bytes);
      const answer = readAnswer(Buffer.concat(pieces).toString("latin1"));
      if (answer !== null) settle({ kind: "answer", ...answer });
    };
    const onClose = () => settle({ kind: "failure", why: "the connection broke" });
    const settled = new AbortController();
    void pause(timeoutMs, settled.signal).then(() => {
      if (!settled.signal.aborted) settle({ kind: "failure", why: "no answer in time" });
    });

    function settle(outcome: Outcome): void {
      settled.abort();
      socket.off("data", onData).off("close", onClose);
      busy.delete(socket);
      if (outcome.kind === "failure" || outcome.closes) socket.destroy();
      else idle.push(socket);
      resolve(outcome);
    }

    socket.on("data", onData).on("close", onClose);
    socket.write(textOf(request, host));
    return promise;
  }

  return {
    exchange,
    close() {
      for (const socket of [...idle, ...busy]) socket.destroy();
    },
  };
}

function textOf({ method, path, headers, body }: PhoneRequest, host: string): string {
  const length = body === null ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = [`${method} ${path} HTTP/1.1`, `Host: ${host}`, ...lines, ...length];
  return `${head.join("\r\n")}\r\n\r\n${body ?? ""}`;
}
