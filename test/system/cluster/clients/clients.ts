import { join } from "node:path";
import type { Put, Read, Row } from "../check/history.ts";
import type { ClientLine, ClientPlan } from "./plan.ts";

/** A process of clients, and what it has written down so far. */
export interface Clients {
  signal(signal: NodeJS.Signals): void;
  /** Lets what is under way end, then resolves with all that was done. */
  stop(): Promise<ClientsHistory>;
}

export interface ClientsHistory {
  readonly puts: readonly Put[];
  readonly reads: readonly Read[];
  /** How requests failed, for people. */
  readonly failures: readonly string[];
  /** What it said of itself, where it did not end as it should. */
  readonly complaint: string | null;
}

export function startClients(plan: ClientPlan): Clients {
  const program = join(import.meta.dir, "main.ts");
  const child = Bun.spawn([process.execPath, program, JSON.stringify(plan)], {
    stdin: "pipe", // Its end is that of this process, whatever ended it.
    stdout: "pipe",
    stderr: "pipe",
  });
  const output = new Response(child.stdout).text();
  const errors = new Response(child.stderr).text();
  let isKilled = false;
  return {
    signal(signal) {
      isKilled ||= signal === "SIGKILL";
      child.kill(signal);
    },
    async stop() {
      child.kill("SIGCONT");
      child.kill("SIGTERM");
      const [text, complaint, code] = [await output, await errors, await child.exited];
      const wasFine = isKilled || (code === 0 && complaint === "");
      return { ...parseLines(text), complaint: wasFine ? null : `clients ended with ${code}: ${complaint}` };
    },
  };
}

type Begun = Exclude<ClientLine, { readonly is: "end" }>;
type Ended = Extract<ClientLine, { readonly is: "end" }>;

/** The last line of a process that was killed may be cut short. */
function parseLines(text: string): Omit<ClientsHistory, "complaint"> {
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  const begun: Begun[] = [];
  const ends = new Map<number, Ended>();
  for (const line of lines) {
    if (line === "") continue;
    const parsed = JSON.parse(line) as ClientLine;
    if (parsed.is === "end") ends.set(parsed.id, parsed);
    else begun.push(parsed);
  }
  const puts: Put[] = [];
  const reads: Read[] = [];
  for (const line of begun) {
    const end = ends.get(line.id);
    const { outcome = "unknown", endMs = null, accepted = 0, duplicates = 0, sequence = 0 } = end ?? {};
    if (line.is === "put")
      puts.push({ ...line, kind: "put", outcome, endMs, accepted, duplicates, sequence });
    else reads.push({ ...line, kind: "read", outcome, endMs, sequence, rows: rowsOf(end?.rows ?? []) });
  }
  const failures = [...ends.values()].flatMap(({ failure }) => failure ?? []);
  return { puts, reads, failures };
}

function rowsOf(numbers: readonly number[]): Row[] {
  const rows: Row[] = [];
  for (let index = 0; index < numbers.length; index += 2)
    rows.push({ timestamp: numbers[index]!, value: numbers[index + 1]! });
  return rows;
}
