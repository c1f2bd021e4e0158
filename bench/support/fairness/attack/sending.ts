import type { Target } from "../shape.ts";
import { createFreePace } from "./pace.ts";

/** Connections of an attacker that waits for its answers: enough for a server to have several requests at once. */
const CONNECTIONS = 16;

/** Connections that an attacker only holds. */
export const HELD_MAX = 500;

/** Requests over several connections, each as soon as the key's tier lets it through. */
export function sendAtPace(target: Target, next: () => Uint8Array, connections = CONNECTIONS): Promise<void> {
  const pace = createFreePace();
  return send(target, next, connections, () => pace.turn());
}

/** Requests over several connections, each as soon as the one before is answered. */
export function flood(target: Target, next: () => Uint8Array, connections = CONNECTIONS): Promise<void> {
  return send(target, next, connections, async () => {});
}

async function send(
  target: Target,
  next: () => Uint8Array,
  connections: number,
  turn: () => Promise<void>,
): Promise<void> {
  await Promise.all(
    Array.from({ length: connections }, async () => {
      let connection = await target.open();
      while (target.goesOn()) {
        await turn();
        if (connection === null || connection.isClosed) connection = await target.open();
        if (connection === null) {
          target.count("no connection");
          await Bun.sleep(RETRY_MS);
          continue;
        }
        target.count("sent");
        void connection.write(next()); // A server may answer before it has read all.
        target.count(String((await connection.answer()) ?? "cut off"));
      }
    }),
  );
}

const RETRY_MS = 100;

/** Opens connections one after the other and leaves each to `use`, whatever becomes of it. */
export async function hold(
  target: Target,
  use: (connection: NonNullable<Awaited<ReturnType<Target["open"]>>>) => Promise<void>,
  { turn = async () => {}, reads = true, count = HELD_MAX }: HoldOptions = {},
): Promise<void> {
  for (let opened = 0; opened < count && target.goesOn(); opened++) {
    await turn();
    const connection = await target.open({ reads });
    target.count(connection === null ? "no connection" : "held");
    if (connection !== null) void use(connection);
  }
  while (target.goesOn()) await Bun.sleep(RETRY_MS);
}

export interface HoldOptions {
  readonly turn?: () => Promise<void>;
  readonly reads?: boolean;
  readonly count?: number;
}
