import { Redis } from "ioredis";
import type { Point } from "../fleets/metropolis.ts";
import type { PeerConnection } from "./contender.ts";

/** A connection to Redis, or to Tile38, which uses its protocol. It does not reconnect: a lost connection rejects. */
export async function openRedis(port: number): Promise<Redis> {
  const redis = new Redis(port, "127.0.0.1", {
    lazyConnect: true,
    retryStrategy: null,
    /* Version 2 of the protocol without a handshake, as Tile38 requires. */
    protocol: 2,
    disableClientInfo: true,
    enableReadyCheck: false,
  });
  redis.on("error", () => {}); // Pending requests reject with it; without a listener it is also printed.
  await redis.connect();
  return redis;
}

/** Opens a connection that queries by a command. */
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

/** Throws if the server does not answer. */
export async function pingRedis(port: number): Promise<void> {
  const redis = await openRedis(port);
  await redis.ping();
  await closeRedis(redis);
}
