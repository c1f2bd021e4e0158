import { connect, createServer, type Socket } from "node:net";
import { pause } from "../../support/pause.ts";
import type { Picker } from "../../support/random.ts";

/**
 * The network between phones and server: always at the same address, whatever becomes of the server, and as bad as it
 * is told to be. A phone has one request at a time on a connection, so what comes back is the answer to the last one.
 */
export interface Network {
  readonly url: string;
  /** Where the server is; null while it is nowhere. */
  aim(serverUrl: string | null): void;
  /** From now on. */
  trouble: Trouble;
  close(): Promise<void>;
}

/** How likely each of these is to befall a request or an answer. */
export interface Trouble {
  /** The connection breaks before all of a request has passed. */
  readonly cutRequest: number;
  /** A request has been answered, and nothing of the answer arrives. */
  readonly cutAnswer: number;
  /** Half of it does. */
  readonly halfAnswer: number;
  /** An answer comes late. */
  readonly lateAnswer: number;
}

export const NO_TROUBLE: Trouble = { cutRequest: 0, cutAnswer: 0, halfAnswer: 0, lateAnswer: 0 };

/**
 * What the server gets in place of a request, or what the phone is told without the server's knowing: as if the server
 * had a fault, for tests of the tests.
 */
export type Tampering = (request: string) => { readonly pass: string } | { readonly answer: string };

const LATE_MS_MAX = 4000;

export async function openNetwork(pick: Picker, tampering: Tampering | null = null): Promise<Network> {
  const sockets = new Set<Socket>();
  let target: { readonly hostname: string; readonly port: number } | null = null;

  const listener = createServer((phone) => {
    if (target === null) {
      phone.destroy();
      return;
    }
    const server = connect(target.port, target.hostname);
    for (const [socket, other] of [
      [phone, server],
      [server, phone],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => undefined); // "close" follows.
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroySoon(); // Once it has what is on its way.
      });
    }
    let isBetween = true; // The last request has been answered, and the next has not begun.
    phone.on("data", (bytes: Buffer) => {
      const isCut = isBetween && hits(network.trouble.cutRequest);
      isBetween = false;
      if (isCut) server.write(bytes.subarray(0, bytes.length >> 1), () => phone.destroy());
      else passRequest(phone, server, bytes);
    });
    server.on("data", (bytes: Buffer) => {
      isBetween = true;
      passAnswer(phone, server, bytes);
    });
  });

  function passRequest(phone: Socket, server: Socket, bytes: Buffer): void {
    if (tampering === null) {
      forward(phone, server, bytes);
      return;
    }
    const decided = tampering(bytes.toString("latin1"));
    if ("answer" in decided) phone.write(decided.answer, "latin1");
    else server.write(decided.pass, "latin1");
  }

  function passAnswer(phone: Socket, server: Socket, bytes: Buffer): void {
    const { cutAnswer, halfAnswer, lateAnswer } = network.trouble;
    if (hits(cutAnswer)) phone.destroy();
    else if (hits(halfAnswer)) phone.write(bytes.subarray(0, bytes.length >> 1), () => phone.destroy());
    else if (hits(lateAnswer))
      void pause(pick.integer(1, LATE_MS_MAX)).then(() => forward(server, phone, bytes));
    else forward(server, phone, bytes);
  }

  /** Stops the one while the other can't take more: a photo has 17 MB. */
  function forward(from: Socket, to: Socket, bytes: Buffer): void {
    if (to.destroyed || to.write(bytes)) return;
    from.pause();
    to.once("drain", () => from.resume());
  }

  function hits(probability: number): boolean {
    return pick.maybe(probability, () => true) ?? false;
  }

  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const address = listener.address();
  if (address === null || typeof address === "string") throw new Error("The network has no port.");

  const network: Network = {
    url: `http://127.0.0.1:${address.port}`,
    aim(serverUrl) {
      target =
        serverUrl === null
          ? null
          : { hostname: new URL(serverUrl).hostname, port: Number(new URL(serverUrl).port) };
      for (const socket of sockets) socket.destroy();
    },
    trouble: NO_TROUBLE,
    close() {
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      return closed;
    },
  };
  return network;
}
