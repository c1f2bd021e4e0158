import type { Target } from "../shape.ts";
import { createFreePace } from "./pace.ts";

/** Connections of an attacker that waits for answers: enough for several concurrent requests. */
const CONNECTIONS = 16;

/** Connections that an attacker only keeps open. */
export const HELD_MAX = 500;

/** Sends requests over several connections, each as soon as the key's tier allows. */
export function sendAtPace(target: Target, next: () => Uint8Array, connections = CONNECTIONS): Promise<void> {
  const pace = createFreePace();
  return send(target, next, connections, () => pace.turn());
}

/** Sends requests over several connections, each after the answer to the one before. */
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
        void connection.write(next()); // A server may answer before it has read everything.
        target.count(String((await connection.answer()) ?? "cut off"));
      }
    }),
  );
}

const RETRY_MS = 100;

/** Opens connections one by one and passes each to `use`, ignoring failures. */
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
