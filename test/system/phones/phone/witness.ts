import type { Outcome } from "./connections.ts";

/** What a phone was answered, and what of it no server may answer. */
export interface Witness {
  /** How often by status; `failure` where nothing came back. */
  readonly counts: ReadonlyMap<string, number>;
  readonly faults: readonly string[];
  note(outcome: Outcome, asked: Asked): void;
}

export interface Asked {
  /** Whether the key was one that the server knows. */
  readonly isKeyGood: boolean;
  readonly isHuge: boolean;
  readonly key: string;
}

const FAULTS_MAX = 5; // More of one phone tell nothing new.

/** Words that clients act upon. */
const ACTED_UPON = /"(?:result|_type|background_geolocation|set)"/;

export function createWitness(): Witness {
  const counts = new Map<string, number>();
  const faults: string[] = [];
  return {
    counts,
    faults,
    note(outcome, asked) {
      const what = outcome.kind === "failure" ? "failure" : String(outcome.status);
      counts.set(what, (counts.get(what) ?? 0) + 1);
      const fault = outcome.kind === "failure" ? null : faultOf(outcome, asked);
      if (fault !== null && faults.length < FAULTS_MAX) faults.push(fault);
    },
  };
}

function faultOf(
  answer: Outcome & { readonly kind: "answer" },
  { isKeyGood, isHuge, key }: Asked,
): string | null {
  const { status, body, headers } = answer;
  const said = `answered ${status} ${JSON.stringify(body.slice(0, 200))}`;
  if (body.includes(key)) return `was told its key: ${said.replaceAll(key, "KEY")}`;
  if (status === 200) return null;
  if (ACTED_UPON.test(body)) return `${said}, which clients act upon`;
  if (status === 503) return headers.has("retry-after") ? null : `${said} without Retry-After`;
  if (status === 401) return isKeyGood ? `${said} with a right key` : null;
  return status === 413 && isHuge ? null : said;
}
