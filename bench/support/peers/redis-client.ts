import { Redis } from "ioredis";
import type { Point } from "../fleets/metropolis.ts";
import type { PeerConnection } from "./contender.ts";

/** One connection to Redis, or to Tile38, which speaks its protocol. It is never made anew: a lost one rejects. */
export async function openRedis(port: number): Promise<Redis> {
  const redis = new Redis(port, "127.0.0.1", {
    lazyConnect: true,
    retryStrategy: null,
    /* Version 2 of the protocol and no questions on connecting: Tile38 knows nothing else. */
    protocol: 2,
    disableClientInfo: true,
    enableReadyCheck: false,
  });
  redis.on("error", () => {}); // What was asked rejects with the same; without a listener it is printed too.
  await redis.connect();
  return redis;
}

/** A connection that asks by a command. */
export async function connectRedis(
  port: number,
  command: string,
  argumentsOf: (center: Point) => readonly (string | number)[],
): Promise<PeerConnection> {
  const redis = await openRedis(port);
  return {
    ask: (center) => redis.call(command, ...argumentsOf(center)),
    close: () => closeRedis(redis),
  };
}

export async function closeRedis(redis: Redis): Promise<void> {
  await redis.quit();
}

/** Throws while the server doesn't answer. */
export async function pingRedis(port: number): Promise<void> {
  const redis = await openRedis(port);
  await redis.ping();
  await closeRedis(redis);
}
