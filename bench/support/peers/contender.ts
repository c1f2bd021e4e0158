import type { Result } from "../../../src/lib/result.ts";
import type { FullReport } from "../fleets/fleet.ts";
import type { Metropolis, Point } from "../fleets/metropolis.ts";

/* The interface of a compared server: starting, querying, and reading answers. */

export const PAGE = 100;
export const RADIUS_MILES = 5;

/** A server with the metropolis, the ways to query it, and its address for writes. */
export interface Peer {
  readonly contenders: readonly Contender[];
  readonly address: PeerAddress;
  stop(): Promise<void>;
}

/** The address of a peer for a writing process. */
export interface PeerAddress {
  readonly peer: "wherehouse" | "redis" | "tile38" | "postgis" | "geokdbush";
  readonly port: number;
  /** The key, if the peer needs one. */
  readonly key?: string;
}

/** A realistic write connection to a peer: one batch at a time. */
export interface PeerWriter {
  /** Writes positions; resolves once the peer acknowledges all of them. */
  write(reports: readonly FullReport[]): Promise<void>;
  close(): Promise<void>;
}

export type OpenWriter = (address: PeerAddress) => Promise<PeerWriter>;

/** The data and options of a peer. */
export interface PeerOptions {
  readonly metropolis: Metropolis;
  /** The oldest time that counts, in queries for the last 24 hours. */
  readonly oldestMs: number;
  readonly connections: number;
}

/** Starts and fills a peer; on failure, a line says what it needs. */
export type StartPeer = (options: PeerOptions) => Promise<Result<Peer, string>>;

/** A way to query a server for the page of devices nearest to a point. */
export interface Contender {
  readonly name: string;
  readonly pid: number;
  readonly returns: Returns;
  connect(): Promise<PeerConnection>;
  /** Reads the devices of an answer, in order. */
  readDevices(answer: unknown): readonly string[];
}

/** A connection of the server's own client, with one query at a time. */
export interface PeerConnection {
  /** Resolves with the client's whole answer. Rejects if the server refuses. */
  ask(center: Point): Promise<unknown>;
  close(): Promise<void>;
}

/** The parts of our answers that a contender returns. */
export interface Returns {
  /** What comes with each device. */
  readonly each: "record" | "position" | "id";
  readonly total: boolean;
  readonly ages: "24 h" | "all";
  /** Whether devices at the same distance have a stable order. */
  readonly ties: boolean;
}

/** The indexes of all devices, in batches. */
export function* devicesOf(metropolis: Metropolis, batchSize: number): Generator<readonly number[]> {
  const devices = metropolis.latitude.length;
  for (let start = 0; start < devices; start += batchSize)
    yield Array.from({ length: Math.min(batchSize, devices - start) }, (_, index) => start + index);
}
