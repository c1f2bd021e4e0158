import { connect } from "node:net";

/** A connection that ignores the conventions of HTTP clients. */
export interface HostileConnection {
  readonly isClosed: boolean;
  /** Resolves when the bytes are sent, or never will be. */
  write(bytes: Uint8Array | string): Promise<void>;
  /** The status of the next complete answer; null if the connection closes before. */
  answer(): Promise<number | null>;
  /** Resets the connection. */
  close(): void;
}

/** Null if the server refuses the connection. Without `reads` nothing is read, so that answers pile up. */
export function openHostile(url: string, { reads = true } = {}): Promise<HostileConnection | null> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const answers = new AnswerReader();
  const waiting: ((status: number | null) => void)[] = [];
  const ready: number[] = [];
  let isClosed = false;

  if (reads) {
    socket.on("data", (bytes: Buffer) => {
      for (const status of answers.take(bytes)) {
        const resolve = waiting.shift();
        if (resolve === undefined) ready.push(status);
        else resolve(status);
      }
    });
  } else {
    socket.pause();
  }
  socket.on("close", () => {
    isClosed = true;
    for (const resolve of waiting.splice(0)) resolve(null);
  });

  const connection: HostileConnection = {
    get isClosed() {
      return isClosed;
    },
    write: (bytes) =>
      new Promise((resolve) => {
        if (isClosed) return resolve();
        const gone = () => resolve();
        socket.once("close", gone);
        socket.write(bytes, () => {
          socket.off("close", gone);
          resolve();
        });
      }),
    answer() {
      const status = ready.shift();
      if (status !== undefined) return Promise.resolve(status);
      return isClosed ? Promise.resolve(null) : new Promise((resolve) => waiting.push(resolve));
    },
    close: () => socket.resetAndDestroy(),
  };
  return new Promise((resolve) => {
    socket.once("connect", () => resolve(connection));
    socket.on("error", () => resolve(null)); // Later errors are followed by "close".
  });
}

/** Splits the received bytes into answers, which all have a length. */
class AnswerReader {
  #head = "";
  /** Remaining bytes of the body; null while the head is incomplete. */
  #missingBytes: number | null = null;
  #status = 0;

  /** Returns the statuses of the answers that end in these bytes. */
  take(bytes: Buffer): number[] {
    const ended: number[] = [];
    let rest = bytes;
    while (rest.length > 0) {
      if (this.#missingBytes === null) rest = this.#takeHead(rest);
      if (this.#missingBytes === null) break;
      const taken = Math.min(rest.length, this.#missingBytes);
      this.#missingBytes -= taken;
      rest = rest.subarray(taken);
      if (this.#missingBytes > 0) break;
      this.#missingBytes = null;
      ended.push(this.#status);
    }
    return ended;
  }

  /** Returns the bytes after the head. */
  #takeHead(bytes: Buffer): Buffer {
    const before = this.#head.length;
    this.#head += bytes.toString("latin1");
    const headEnd = this.#head.indexOf("\r\n\r\n");
    if (headEnd < 0) return bytes.subarray(bytes.length);
    const head = this.#head.slice(0, headEnd);
    this.#head = "";
    this.#status = Number(/^HTTP\/1\.\d (\d{3})/.exec(head)?.[1]);
    this.#missingBytes = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    return bytes.subarray(headEnd + 4 - before);
  }
}
