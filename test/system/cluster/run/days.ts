import { until } from "../../../support/until.ts";
import { type VerifiedNode, verifyNode } from "./commands.ts";
import { dayHashes } from "./copies.ts";
import type { Lab } from "./lab.ts";

/** A UTC day, as all nodes have it. */
export interface Day {
  readonly day: string;
  readonly isSame: boolean;
  /** Nodes whose archive has it, with the same records by `verify`. */
  readonly archivedOn: number;
}

const MS_PER_DAY = 86_400_000;
const DAYS_BACK = 20;
/** A seal or two, and the time to look. */
const AGREE_MS_MAX = 120_000;

/**
 * SHA-256 of each day, by what each node answers and by what `verify` finds in its archive, once all say the same or no
 * more time is left. Late reports are in memory until the next seal, so an archive may be behind for a while.
 */
export async function compareDays(lab: Lab): Promise<{ days: Day[]; faults: string[] }> {
  const untilMs = performance.now() + AGREE_MS_MAX;
  let compared = await compareOnce(lab);
  await until(async () => {
    if (compared.faults.length === 0 || performance.now() > untilMs) return true;
    compared = await compareOnce(lab);
    return false;
  });
  return compared;
}

async function compareOnce({ nodes, key }: Lab): Promise<{ days: Day[]; faults: string[] }> {
  const nowMs = Date.now();
  const answered = await Promise.all(
    nodes.map((node) => dayHashes(node, key, nowMs - DAYS_BACK * MS_PER_DAY, nowMs + MS_PER_DAY)),
  );
  const archived: VerifiedNode[] = [];
  for (const node of nodes) archived.push(await verifyNode(node));
  const names = [...new Set(answered.flatMap((hashes) => [...hashes.keys()]))].sort();
  const faults: string[] = [];
  for (const day of names)
    if (new Set(answered.map((hashes) => hashes.get(day))).size > 1)
      faults.push(`the nodes answer different records of ${day}`);
  archived.forEach(({ days, problems }, node) => {
    faults.push(...problems.map((problem) => `verify of node ${node + 1}: ${problem}`));
    for (const [day, sha256] of days)
      if (answered[node]!.get(day) !== sha256)
        faults.push(`node ${node + 1} answers other records of ${day} than verify finds in its archive`);
  });
  const days = names.map((day) => ({
    day,
    isSame: new Set(answered.map((hashes) => hashes.get(day))).size === 1,
    archivedOn: archived.filter(({ days }) => days.has(day)).length,
  }));
  return { days, faults };
}
