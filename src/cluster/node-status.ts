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

/** The stream's last message, as it was at an instant. */
interface Sample {
  readonly atMs: number;
  readonly lastMessage: number;
}

const SAMPLES_MAX = 4096;

/**
 * How far a node is behind the stream: for how long something that the servers had has been missing here, or for how
 * long nobody could say what they have.
 */
export class LagMeter {
  #missing: Sample[] = [];
  #askedMs: number;

  constructor(nowMs: number) {
    this.#askedMs = nowMs;
  }

  /** The servers said what they had when they were asked. */
  note({ atMs, lastMessage }: Sample): void {
    this.#askedMs = atMs;
    if (this.#missing.at(-1)?.lastMessage !== lastMessage) this.#missing.push({ atMs, lastMessage });
    // A node that stands still for a week: what is left of its samples says how far it is behind to a few minutes.
    if (this.#missing.length > SAMPLES_MAX)
      this.#missing = this.#missing.filter((_, index) => index % 2 === 0 || index === SAMPLES_MAX);
  }

  /** `graceMs` is how long it takes to hear from servers that are there. */
  lagMs(nowMs: number, appliedMessage: number, graceMs: number): number {
    this.#missing = this.#missing.filter(({ lastMessage }) => lastMessage > appliedMessage);
    const behindMs = this.#missing.length === 0 ? 0 : nowMs - this.#missing[0]!.atMs;
    const unheardMs = nowMs - this.#askedMs;
    return Math.max(behindMs, unheardMs > graceMs ? unheardMs : 0);
  }
}
