import { connect } from "node:net";

/** A connection for what no well-behaved client does. Each character of a text is one byte. */
export interface RawConnection {
  /** All that came back so far. */
  readonly said: string;
  readonly isClosed: boolean;
  /** Resolves when the bytes have left, or never will. */
  send(bytes: string | Uint8Array): Promise<void>;
  /** Resolves when what came back matches or the connection is closed. */
  says(pattern: RegExp): Promise<void>;
  close(): void;
}

/** Without `reads` nothing that comes back is taken, so that the server's answers pile up. */
export async function openRaw(url: string, { reads = true } = {}): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let said = "";
  let news = Promise.withResolvers<void>();
  const tell = () => {
    news.resolve();
    news = Promise.withResolvers();
  };
  let isClosed = false;
  if (reads) {
    socket.on("data", (bytes) => {
      said += bytes.toString("latin1");
      tell();
    });
  } else {
    socket.pause();
  }
  socket.on("error", () => undefined); // Servers may cut such connections.
  socket.on("close", () => {
    isClosed = true;
    tell();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", () => resolve());
    socket.once("error", reject);
  });
  return {
    get said() {
      return said;
    },
    get isClosed() {
      return isClosed;
    },
    send: (bytes) =>
      new Promise((resolve) => {
        const gone = () => resolve();
        socket.once("close", gone);
        socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes, () => {
          socket.off("close", gone);
          resolve();
        });
      }),
    async says(pattern) {
      while (!pattern.test(said) && !isClosed) await news.promise;
    },
    close: () => socket.destroy(),
  };
}
