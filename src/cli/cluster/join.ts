import { logUrl } from "../../cluster/cluster-config.ts";
import { type JoinReport, join as joinCluster } from "../../cluster/join/join.ts";
import { createPeer } from "../../cluster/join/peer.ts";
import { takeDirectory } from "../../directory/take-directory.ts";
import { wait } from "../../lib/schedule/timers.ts";
import { printableLine, shellQuote } from "../../lib/text/printable.ts";
import type { CommandContext } from "../arguments/command.ts";
import { countOf } from "../screen/layout.ts";
import { createProgressBar } from "../screen/progress-bar.ts";
import type { JoinOptions } from "./command.ts";

/** The copy fails if the peer sends nothing for this long. */
const STALL_MS = 60_000;

/** Copies a running node's data directory for a new node; returns 1 if that failed. */
export async function join(
  { url, key, dataDir, again, json }: JoinOptions,
  { platform, clock, terminal, program, stopSignal }: CommandContext,
): Promise<number> {
  const signal = stopSignal();
  const say = (line: string) => terminal.error(`${printableLine(line)}\n`);
  const bar = createProgressBar("Copying", terminal);
  try {
    const result = await joinCluster({
      files: platform.files,
      openSqlite: platform.openSqlite,
      dataDir,
      again,
      peer: createPeer({ url, key, ask: fetch, wait, signal, stallMs: STALL_MS }),
      wait,
      signal,
      take: (path) => takeDirectory(path, "join", platform, clock),
      onProgress: (done, total) => bar.show({ done, total, count: null }),
    });
    bar.clear();
    if (!result.ok) {
      say(result.error);
      return 1;
    }
    for (const problem of result.value.problems) say(`Damaged at the peer: ${problem}`);
    const text = summary(dataDir, url, result.value, program);
    terminal.out(json ? `${JSON.stringify({ dataDir, url, ...result.value }, null, 2)}\n` : text);
    return 0;
  } catch (error) {
    if (!signal.aborted) throw error;
    bar.clear();
    say("Interrupted. The same command continues the copy.");
    return 1;
  } finally {
    bar.clear();
  }
}

function summary(dataDir: string, url: string, report: JoinReport, program: string): string {
  const { files, bytes, copiedFiles, copiedBytes, lastSequence, cluster, durationMs } = report;
  const all = `${countOf(files, "file")}, ${countOf(bytes, "byte")}, up to sequence ${lastSequence}`;
  const copied = `${countOf(copiedFiles, "file")} (${countOf(copiedBytes, "byte")}) copied`;
  const log = logUrl(cluster);
  const serve = `serve --log ${shellQuote(log)} --stream ${cluster.stream} --data-dir ${shellQuote(dataDir)}`;
  return [
    `"${dataDir}" is now a copy of the node at ${url}: ${all}; ${copied} in ${(durationMs / 1000).toFixed(1)} s.`,
    "Newer records are in the log. Next, with the NATS password in the environment if there is one:",
    `  ${program} ${serve}`,
    "",
  ]
    .map(printableLine)
    .join("\n");
}
