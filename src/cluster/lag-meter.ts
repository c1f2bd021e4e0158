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
