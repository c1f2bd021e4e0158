import { logUrl, readStreamAddress } from "../../cluster/cluster-config.ts";
import { type InitReport, initCluster } from "../../cluster/init/init.ts";
import { patiently } from "../../cluster/repeat.ts";
import { StreamError } from "../../cluster/stream/stream.ts";
import { DirectoryInUseError, takeDirectory } from "../../directory/take-directory.ts";
import { messageOf } from "../../lib/message-of.ts";
import { shellQuote } from "../../lib/text/printable.ts";
import type { CommandContext } from "../arguments/command.ts";
import { expectDataDirectory } from "../directory/data-directory.ts";
import { countOf } from "../screen/layout.ts";
import { createStepBars } from "../screen/progress-bar.ts";
import type { ClusterInitOptions } from "./command.ts";

/** Turns a directory into the first node of a cluster; returns 1 if that failed or was interrupted. */
export async function clusterInit(
  command: ClusterInitOptions,
  { platform, clock, terminal, program, stopSignal }: CommandContext,
): Promise<number> {
  const signal = stopSignal();
  const { dataDir, address, access, logBytesMax, json } = command;
  const { files, openStream } = platform;
  await expectDataDirectory(files, dataDir);
  const progress = createStepBars(terminal);
  const { say } = progress;
  let isWaiting = false;
  const onWaiting = (error: unknown) => {
    if (!isWaiting) say(`${messageOf(error)}. Retrying for a minute.`);
    isWaiting = true;
  };
  let release: () => void;
  try {
    release = await takeDirectory(dataDir, "cluster init", platform, clock);
  } catch (error) {
    if (!(error instanceof DirectoryInUseError)) throw error;
    say(`${error.message} Stop it first: the cluster would lack the reports that it accepts meanwhile.`);
    return 1;
  }
  try {
    const whole = await readStreamAddress(address, access, files);
    const report = await initCluster({
      files,
      dataDir,
      address,
      signal,
      openStream(firstMessage) {
        const create = { firstMessage, bytesMax: logBytesMax };
        return patiently(() => openStream({ address: whole, create, onNote: say }), onWaiting);
      },
      onReading: (done, total) => progress.show("Reading the log", { done, total, count: null }),
      onPublishing: (done, total) => progress.show("Publishing", { done, total, count: done }),
      patiently: (question) => patiently(question, onWaiting),
    });
    progress.clear();
    const text = json ? JSON.stringify({ dataDir, ...report }, null, 2) : summary(command, report, program);
    terminal.out(`${text}\n`);
    return 0;
  } catch (error) {
    if (!signal.aborted && !(error instanceof StreamError)) throw error;
    say(signal.aborted ? "Interrupted." : messageOf(error));
    if (isFull(error)) say("Give the servers more space, or set another size of the stream with --log-size.");
    say("The directory is unchanged. The same command continues from what is in the stream.");
    return 1;
  } finally {
    progress.clear();
    release();
  }
}

function isFull(error: unknown): boolean {
  return error instanceof StreamError && error.kind === "full";
}

function summary(
  { dataDir, address }: ClusterInitOptions,
  report: InitReport | null,
  program: string,
): string {
  const { stream } = address;
  const log = logUrl(address);
  const serve = `serve --log ${shellQuote(log)} --stream ${stream} --data-dir ${shellQuote(dataDir)}`;
  return [
    `"${dataDir}" is now a node of the stream "${stream}"${report === null ? "." : whatIsIn(report)}`,
    "The old log is in wal.before-cluster and no longer used.",
    "Next, with the NATS password in the environment if there is one:",
    `  ${program} ${serve}`,
  ].join("\n");
}

function whatIsIn({ records, messages, firstMessage, found, shared }: InitReport): string {
  const earlier = found === 0 ? "" : `, ${countOf(found, "message")} of them by an earlier run`;
  const files = shared.length === 0 ? "." : `. Shared with all nodes: ${shared.join(", ")}.`;
  if (messages === 0) return `: the archive holds all of it${files}`;
  return `: ${countOf(records, "report")} were published as ${countOf(messages, "message")} from ${firstMessage} on${earlier}${files}`;
}
