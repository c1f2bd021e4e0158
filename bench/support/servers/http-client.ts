import { connect } from "node:net";

/** A connection with one request at a time, over a plain socket, since `fetch` has overhead. */
export interface HttpClient {
  /** Sends an encoded request; resolves with the answer's body, which must have status 200. */
  ask(request: Uint8Array): Promise<Buffer>;
  close(): void;
}

export async function openHttpClient(url: string): Promise<HttpClient> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.setNoDelay(true);
  let answered: (body: Buffer) => void = () => {};
  let failed: (error: Error) => void = () => {};
  let broken: Error | null = null; // Once set, all requests fail.
  let head = ""; // The head so far; the body may follow in the same chunk or later.
  let body: Buffer[] = [];
  let missing = Number.NaN; // Remaining bytes of the body; NaN while the head is incomplete.

  function take(bytes: Buffer): void {
    body.push(bytes);
    missing -= bytes.length;
    if (missing > 0) return;
    const whole = body.length === 1 ? bytes : Buffer.concat(body);
    head = "";
    body = [];
    missing = Number.NaN;
    answered(whole);
  }

  function breakOff(error: Error): void {
    broken ??= error;
    failed(broken);
  }

  socket.on("error", breakOff);
  socket.on("close", () => breakOff(new Error("the server closed the connection")));
  socket.on("data", (bytes: Buffer) => {
    if (!Number.isNaN(missing)) {
      take(bytes);
      return;
    }
    const before = head.length;
    head += bytes.toString("latin1");
    const headEnd = head.indexOf("\r\n\r\n");
    if (headEnd < 0) return;
    if (!head.startsWith("HTTP/1.1 200")) {
      failed(new Error(`not a 200: ${head}`));
      return;
    }
    missing = Number(/content-length: (\d+)/i.exec(head.slice(0, headEnd))![1]);
    take(bytes.subarray(headEnd + 4 - before));
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    failed = reject;
  });
  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        answered = resolve;
        failed = reject;
        if (broken === null) socket.write(request);
        else reject(broken);
      }),
    close: () => socket.destroy(),
  };
}
