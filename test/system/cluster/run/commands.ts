import { RUNTIMES, runCommand } from "../../../support/server-process.ts";
import { until } from "../../../support/until.ts";
import type { ClusterNode } from "./nodes.ts";

/** What an operator types beside a node. */

/** Makes a key that may operate, through a node's directory; the node knows it within 2 s. */
async function createOperatorKey(node: ClusterNode): Promise<string> {
  const flags = ["--app", "default", "--permission", "operate", "--tier", "unlimited"];
  const key = (await ran(node, ["keys", "create", ...flags])).trim();
  const headers = { authorization: `Bearer ${key}` };
  await until(async () => (await fetch(`${node.url}/metrics`, { headers })).status !== 401);
  return key;
}

/** Makes the directory of a node from a copy of another. */
export async function joinNode(node: ClusterNode, peer: ClusterNode, again = false): Promise<void> {
  const key = await createOperatorKey(peer);
  await ran(node, ["join", peer.url, "--key", key, ...(again ? ["--again"] : [])]);
}

/** SHA-256 of each day that a node's archive has, or what is wrong with its directory. */
export async function verifyNode(node: ClusterNode): Promise<VerifiedNode> {
  const { out, error } = await runCommand(RUNTIMES[0]!, node.place, ["verify", "--json"]);
  if (out === "") return { days: new Map(), problems: [error] };
  const report = JSON.parse(out) as Report;
  return {
    days: new Map((report.appDays ?? []).map(({ day, sha256 }) => [day, sha256])),
    problems: report.problems,
  };
}

export interface VerifiedNode {
  readonly days: ReadonlyMap<string, string>;
  readonly problems: readonly string[];
}

interface Report {
  readonly problems: readonly string[];
  readonly appDays: readonly { readonly day: string; readonly sha256: string }[] | null;
}

async function ran(node: ClusterNode, words: readonly string[]): Promise<string> {
  const { code, out, error } = await runCommand(RUNTIMES[0]!, node.place, words);
  if (code !== 0) throw new Error(`${words[0]} ended with ${code}: ${error}`);
  return out;
}
