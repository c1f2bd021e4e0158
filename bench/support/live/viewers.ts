import { connect, type Socket } from "node:net";
import { answerParent, type Child, childOptions, startChild } from "../run/child.ts";
import { getRequest } from "../servers/load.ts";

/* Viewers of the live stream in a separate process: they count received data, and can pause reading. */

/** A viewer's query and key. */
export interface Asked {
  readonly path: string;
  readonly key: string;
}

/** The data received by all viewers since the last count. */
export interface Received {
  readonly events: number;
  readonly resets: number;
  readonly bytes: number;
}

/** A command, or the viewers to connect, which are too many for a command line. */
type Order = readonly Asked[] | "count" | "pause" | "resume";

export interface Viewers {
  count(): Promise<Received>;
  /** Stops reading. */
  pause(): Promise<Received>;
  resume(): Promise<Received>;
  end(): Promise<void>;
}

/** Resolves once all are connected. */
export async function startViewers(url: string, viewers: readonly Asked[]): Promise<Viewers> {
  const child: Child<Order, Received> = await startChild({ path: import.meta.path, options: url });
  await child.ask(viewers);
  return {
    count: () => child.ask("count"),
    pause: () => child.ask("pause"),
    resume: () => child.ask("resume"),
    end: () => child.end(),
  };
}

if (import.meta.main) view(childOptions());

function view(url: string): void {
  let [events, resets, bytes] = [0, 0, 0];
  const sockets: Socket[] = [];
  const open = ({ path, key }: Asked) =>
    openStream(url + path, key, sockets, (piece) => {
      bytes += piece.length;
      events += countOf(piece, "data: ");
      resets += countOf(piece, "event: reset");
    });
  answerParent("ready", async (order: Order): Promise<Received> => {
    if (typeof order !== "string") await Promise.all(order.map(open));
    if (order === "pause") for (const socket of sockets) socket.pause();
    if (order === "resume") for (const socket of sockets) socket.resume();
    const received = { events, resets, bytes };
    [events, resets, bytes] = [0, 0, 0];
    return received;
  });
}

/** Resolves with the first chunk of the answer, which must have status 200. */
function openStream(
  url: string,
  key: string,
  sockets: Socket[],
  onPiece: (piece: Buffer) => void,
): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let isOpen = false;
    const socket = connect(Number(port), hostname, () => {
      socket.write(getRequest(url, { authorization: `Bearer ${key}` }));
    });
    sockets.push(socket);
    socket.on("error", reject);
    socket.on("close", () => reject(new Error(`${url}: the stream ended`)));
    socket.on("data", (piece: Buffer) => {
      if (isOpen) {
        onPiece(piece);
        return;
      }
      isOpen = true;
      if (piece.toString("latin1", 0, 12) === "HTTP/1.1 200") resolve();
      else reject(new Error(`not a 200: ${piece.toString("utf8", 0, 400)}`));
    });
  });
}

function countOf(piece: Buffer, text: string): number {
  let count = 0;
  for (let at = piece.indexOf(text); at >= 0; at = piece.indexOf(text, at + text.length)) count++;
  return count;
}
