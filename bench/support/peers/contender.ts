import type { Result } from "../../../src/lib/result.ts";
import type { FullReport } from "../fleets/fleet.ts";
import type { Metropolis, Point } from "../fleets/metropolis.ts";

/* What a server takes part in the race with: how it is started, asked, and what its answers hold. */

export const PAGE = 100;
export const RADIUS_MILES = 5;

/** A server that holds the metropolis, the ways it is asked who is near, and where it is written to. */
export interface Peer {
  readonly contenders: readonly Contender[];
  readonly address: PeerAddress;
  stop(): Promise<void>;
}

/** What another process needs to write to a peer. */
export interface PeerAddress {
  readonly peer: "wherehouse" | "redis" | "tile38" | "postgis" | "geokdbush";
  readonly port: number;
  /** Where it takes one. */
  readonly key?: string;
}

/** One connection that a peer is written to by, as it would be in use: one batch at a time. */
export interface PeerWriter {
  /** Tells where devices are now; resolves once the peer says that it has all of them. */
  write(reports: readonly FullReport[]): Promise<void>;
  close(): Promise<void>;
}

export type OpenWriter = (address: PeerAddress) => Promise<PeerWriter>;

/** What a peer is started with. */
export interface PeerOptions {
  readonly metropolis: Metropolis;
  /** Where a question asks for the last 24 hours: the oldest time that counts. */
  readonly oldestMs: number;
  readonly connections: number;
}

/** Starts and fills a peer; where it can't, a line says what it takes. */
export type StartPeer = (options: PeerOptions) => Promise<Result<Peer, string>>;

/** One way to ask one server for the page of devices nearest to a point. */
export interface Contender {
  readonly name: string;
  readonly pid: number;
  readonly returns: Returns;
  connect(): Promise<PeerConnection>;
  /** The devices of an answer, in its order. */
  readDevices(answer: unknown): readonly string[];
}

/** One connection of the server's own client. It is asked one question at a time. */
export interface PeerConnection {
  /** Resolves with the whole answer, as the client gives it. Rejects where the server refuses. */
  ask(center: Point): Promise<unknown>;
  close(): Promise<void>;
}

/** What an answer holds of what ours does. */
export interface Returns {
  readonly records: boolean;
  readonly total: boolean;
  readonly ages: "24 h" | "all";
  /** Devices at the same distance come in a stable order. */
  readonly ties: boolean;
}

/** The indexes of all devices, some at a time. */
export function* devicesOf(metropolis: Metropolis, batchSize: number): Generator<readonly number[]> {
  const devices = metropolis.latitude.length;
  for (let start = 0; start < devices; start += batchSize)
    yield Array.from({ length: Math.min(batchSize, devices - start) }, (_, index) => start + index);
}
