import { parseVersionedJson } from "../lib/text/versioned-json.ts";

/** What a node tells the others, in the bucket of nodes, under its id. */
export interface NodeStatus {
  /** Where others reach it. */
  readonly address: string;
  /** Which process it is: random, another one at each start. */
  readonly process: string;
  /** The version of its program. */
  readonly program: string;
  /** The first message of the stream that a start of it needs. */
  readonly floor: number;
  /** The same of the stream of the quarantine. */
  readonly quarantineFloor: number;
  readonly appliedSequence: number;
  /** How far it is behind the stream. */
  readonly lagMs: number;
  /** By its own clock. */
  readonly atMs: number;
  /** False once it has stopped in order; it may be back. */
  readonly isUp: boolean;
}

const FORMAT_VERSION = 1;

export function encodeNodeStatus(status: NodeStatus): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ version: FORMAT_VERSION, ...status }));
}

/** Null where the value is none that this program knows. */
export function parseNodeStatus(value: Uint8Array): NodeStatus | null {
  const content = parseVersionedJson(value, FORMAT_VERSION);
  if (!content.ok) return null;
  const { address, process, program, floor, quarantineFloor, appliedSequence, lagMs, atMs, isUp } =
    content.value;
  if (
    typeof address !== "string" ||
    typeof process !== "string" ||
    typeof program !== "string" ||
    typeof isUp !== "boolean"
  )
    return null;
  if (!isWhole(floor) || !isWhole(quarantineFloor)) return null;
  if (!isWhole(appliedSequence) || !isWhole(lagMs) || !isWhole(atMs)) return null;
  return { address, process, program, floor, quarantineFloor, appliedSequence, lagMs, atMs, isUp };
}

function isWhole(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
