import type { HostileConnection } from "./attack/hostile-connection.ts";

/**
 * The server's data. All have the bystander's; `plain` also has a few archived days of the attacker, `crowd` all its
 * devices at one place and of one user, `late` many rows that arrived after their day was sealed.
 */
export type DirectoryName = "plain" | "crowd" | "late";

export const DIRECTORY_NAMES: readonly DirectoryName[] = ["plain", "crowd", "late"];

/** An attack on a shared server. */
export interface Shape {
  readonly name: string;
  /** A description for the table. */
  readonly title: string;
  readonly directory: DirectoryName;
  /** A factor for the attack's duration; defaults to 1. */
  readonly attackTimes?: number;
  /** The share of a core for the server and its child processes; defaults to the whole machine. */
  readonly cores?: number;
  /** Prepares the requests before the measurement. The result runs until the target says no. */
  arm(target: Target): Attack | Promise<Attack>;
}

export type Attack = () => Promise<void>;

/** The attacked server, and an attacker's means. */
export interface Target {
  readonly url: string;
  /** A key of the tier `free`, for the attacker's app. */
  readonly key: string;
  /** The decompressed size of bodies, just below the limit. */
  readonly bodyBytes: number;
  readonly devices: number;
  goesOn(): boolean;
  /** Opens a connection that ends with the attack; null if the server refuses it. */
  open(options?: { readonly reads?: boolean }): Promise<HostileConnection | null>;
  /** Counts an outcome: a status or a word. */
  count(outcome: string): void;
}
