import type { HostileConnection } from "./attack/hostile-connection.ts";

/**
 * Which data the server has. All hold the bystander's; `plain` a few archived days of the attacker besides, `crowd`
 * all its devices at one place and of one user, `late` many rows that came after their day was sealed.
 */
export type DirectoryName = "plain" | "crowd" | "late";

export const DIRECTORY_NAMES: readonly DirectoryName[] = ["plain", "crowd", "late"];

/** One way to be a burden to others. */
export interface Shape {
  readonly name: string;
  /** What the attacker does, for the table. */
  readonly title: string;
  readonly directory: DirectoryName;
  /** How many times as long as others it attacks; once where left out. */
  readonly attackTimes?: number;
  /** How much of a core the server has, with all that it begins; the whole machine where left out. */
  readonly cores?: number;
  /** Makes what is to be sent before the clock runs. What it returns goes on until the target says no. */
  arm(target: Target): Attack | Promise<Attack>;
}

export type Attack = () => Promise<void>;

/** What an attacker has. */
export interface Target {
  readonly url: string;
  /** A key of the tier `free`, for an app of its own. */
  readonly key: string;
  /** What bodies are to unpack to, just below what is taken. */
  readonly bodyBytes: number;
  readonly devices: number;
  goesOn(): boolean;
  /** A connection that ends with the attack; null where the server takes none. */
  open(options?: { readonly reads?: boolean }): Promise<HostileConnection | null>;
  /** Counts what was done, and how it ended: by the status, or in a word. */
  count(outcome: string): void;
}
