/** What a process of clients is told when it starts, in one argument. */
export interface ClientPlan {
  /** Of all nodes. */
  readonly urls: readonly string[];
  readonly key: string;
  readonly seed: number;
  /** Begins the names of its devices. */
  readonly name: string;
  /** The device that clients of all processes report of at once. */
  readonly shared: string;
  /** Makes its values different from those of other processes. */
  readonly number: number;
  /** When the first report of every device was. */
  readonly firstMs: number;
  readonly clients: number;
  /** From an answer to the next request, at most. */
  readonly pauseMsMax: number;
}

/** What comes out of it, a line of JSON each: how a request begins, how it ends. */
export type ClientLine =
  | {
      readonly is: "put";
      readonly id: number;
      readonly startMs: number;
      readonly node: number;
      readonly device: string;
      readonly unit: number;
      readonly value: number;
    }
  | {
      readonly is: "read";
      readonly id: number;
      readonly startMs: number;
      readonly node: number;
      readonly device: string;
      readonly minSequence: number;
      readonly isRetry: boolean;
    }
  | {
      readonly is: "end";
      readonly id: number;
      readonly endMs: number;
      readonly outcome: "ok" | "unknown";
      /** How it failed, for people. */
      readonly failure: string | null;
      readonly accepted: number;
      readonly duplicates: number;
      readonly sequence: number;
      /** Time and value of each record, one after the other. */
      readonly rows: readonly number[];
    };
