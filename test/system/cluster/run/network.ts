import { createServer, connect as dial, type Socket } from "node:net";

/** What is between two programs of this machine that speak TCP: it can be cut, and it can go dead without a word. */

export type LinkState =
  | "open"
  /** Connections break at once, and none can be made. */
  | "cut"
  /** Connections stay, and nothing comes through. */
  | "dead";

export interface Link {
  /** Where it is reached, on 127.0.0.1. */
  readonly port: number;
  set(state: LinkState): void;
  close(): Promise<void>;
}

interface Pair {
  readonly near: Socket;
  /** Null until it is dialled, which a dead link waits with. */
  far: Socket | null;
}

/** Leads to this port of 127.0.0.1. */
export async function openLink(targetPort: number): Promise<Link> {
  let state: LinkState = "open";
  const pairs = new Set<Pair>();

  function end(pair: Pair): void {
    pairs.delete(pair);
    pair.near.destroy();
    pair.far?.destroy();
  }

  /** An end that is gone ends the other; the reason is no business of ours. */
  function watch(pair: Pair, socket: Socket): void {
    socket.on("error", () => end(pair));
    socket.on("close", () => end(pair));
  }

  function reach(pair: Pair): void {
    const far = dial({ host: "127.0.0.1", port: targetPort, noDelay: true });
    pair.far = far;
    watch(pair, far);
    pour(pair.near, far);
    pour(far, pair.near);
  }

  /** Stops reading where the other end does not keep up, or the link is dead. */
  function pour(from: Socket, to: Socket): void {
    from.on("data", (bytes) => {
      if (!to.write(bytes)) from.pause();
    });
    to.on("drain", () => {
      if (state === "open") from.resume();
    });
  }

  const server = createServer({ noDelay: true }, (near) => {
    const pair: Pair = { near, far: null };
    pairs.add(pair);
    watch(pair, near);
    if (state === "cut") end(pair);
    else if (state === "dead") near.pause();
    else reach(pair);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as { port: number }).port,
    set(next) {
      state = next;
      for (const pair of [...pairs]) {
        if (next === "cut") end(pair);
        for (const socket of [pair.near, pair.far]) {
          if (next === "dead") socket?.pause();
          if (next === "open") socket?.resume();
        }
        if (next === "open" && pair.far === null && pairs.has(pair)) reach(pair);
      }
    },
    close() {
      for (const pair of [...pairs]) end(pair);
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
