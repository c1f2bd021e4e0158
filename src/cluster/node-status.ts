import { parseVersionedJson } from "../lib/text/versioned-json.ts";

/** What a node publishes in the nodes bucket, under its id. */
export interface NodeStatus {
  /** The address at which other nodes reach it. */
  readonly address: string;
  /** Random; changes at each start. */
  readonly process: string;
  /** The program's version. */
  readonly program: string;
  /** The first message of the log's stream that a restart needs. */
  readonly floor: number;
  readonly appliedSequence: number;
  readonly lagMs: number;
  /** By the node's own clock. */
  readonly atMs: number;
  /** False after an orderly stop; the node may come back. */
  readonly isUp: boolean;
}

const FORMAT_VERSION = 2;

export function encodeNodeStatus(status: NodeStatus): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ version: FORMAT_VERSION, ...status }));
}

/** Returns null if this program does not know the format. */
export function parseNodeStatus(value: Uint8Array): NodeStatus | null {
  const content = parseVersionedJson(value, FORMAT_VERSION);
  if (!content.ok) return null;
  const { address, process, program, floor, appliedSequence, lagMs, atMs, isUp } = content.value;
  if (
    typeof address !== "string" ||
    typeof process !== "string" ||
    typeof program !== "string" ||
    typeof isUp !== "boolean"
  )
    return null;
  if (!isWhole(floor) || !isWhole(appliedSequence) || !isWhole(lagMs) || !isWhole(atMs)) return null;
  return { address, process, program, floor, appliedSequence, lagMs, atMs, isUp };
}

function isWhole(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** The stream's last message at an instant. */
interface Sample {
  readonly atMs: number;
  readonly lastMessage: number;
}

const SAMPLES_MAX = 4096;

/** Measures how long a message has been missing here, or how long the servers have not answered. */
export class LagMeter {
  #missing: Sample[] = [];
  #answeredMs: number;

  constructor(nowMs: number) {
    this.#answeredMs = nowMs;
  }

  /** The servers answered with their last message. */
  note({ atMs, lastMessage }: Sample): void {
    this.#answeredMs = atMs;
    if (this.#missing.at(-1)?.lastMessage !== lastMessage) this.#missing.push({ atMs, lastMessage });
    // Thins the samples: a node that is stuck for a week still knows its lag to a few minutes.
    if (this.#missing.length > SAMPLES_MAX)
      this.#missing = this.#missing.filter((_, index) => index % 2 === 0 || index === SAMPLES_MAX);
  }

  /** `graceMs` is how long healthy servers may take to answer. */
  lagMs(nowMs: number, appliedMessage: number, graceMs: number): number {
    this.#missing = this.#missing.filter(({ lastMessage }) => lastMessage > appliedMessage);
    const behindMs = this.#missing.length === 0 ? 0 : nowMs - this.#missing[0]!.atMs;
    const unheardMs = nowMs - this.#answeredMs;
    return Math.max(behindMs, unheardMs > graceMs ? unheardMs : 0);
  }
}
