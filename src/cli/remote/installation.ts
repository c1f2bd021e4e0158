import { findDirectoryOwner } from "../../directory/take-directory.ts";
import type { Problem } from "../../operator/remote/checkup.ts";
import { hostAndPort, ListenError } from "../../runtime/listen.ts";
import { type Folder, type Machine, readMachine } from "../../runtime/machine.ts";
import type { Platform } from "../../runtime/platform.ts";
import type { CommandContext } from "../arguments/command.ts";
import { problemText } from "./doctor-report.ts";

/* `doctor --install`: what would keep a server from running well on this machine. It asks no other host. */

export interface InstallOptions {
  readonly dataDir: string;
  readonly hostname: string;
  readonly port: number;
}

/** Prints the problems of this machine; returns 1 if there are any. */
export async function examineInstallation(
  options: InstallOptions,
  { platform, clock, terminal }: CommandContext,
): Promise<number> {
  const { dataDir, hostname, port } = options;
  const owner = await findDirectoryOwner(dataDir, "doctor", platform, clock);
  const address = hostAndPort(hostname, port);
  const groups: readonly (readonly [string, readonly Problem[]])[] = [
    ["This machine", machineProblems(await readMachine(dataDir), clock.nowMs())],
    ["Time zones", zoneProblems(summerHourOfLondon())],
    // A server that runs over the directory has the port already.
    [address, owner?.url ? [] : await portProblems(options, platform)],
  ];
  const texts = groups.flatMap(([title, problems]) => problems.map((problem) => problemText(title, problem)));
  if (texts.length === 0) texts.push(`Nothing is in the way of a server on ${address} over ${dataDir}.\n`);
  terminal.out(texts.join("\n"));
  return groups.every(([, problems]) => problems.length === 0) ? 0 : 1;
}

/** Each connection, each segment of the log, and each archived day while it is read needs a file descriptor. */
const DESCRIPTORS_MIN = 8192;

export function machineProblems({ descriptorsMax, folder }: Machine, nowMs: number): readonly Problem[] {
  const problems: Problem[] = [];
  if (descriptorsMax !== null && descriptorsMax < DESCRIPTORS_MIN)
    problems.push({
      what: `A process may have ${descriptorsMax} files and connections open, and each phone takes one.`,
      advice:
        "Set LimitNOFILE=65536 in the service's unit, --ulimit nofile=65536:65536 for a container, or ulimit -n 65536.",
    });
  return [...problems, ...folderProblems(folder), ...clockProblems(folder, nowMs)];
}

/** The log grows by segments of 64 MB, and a seal needs room for the days that it writes. */
const FREE_BYTES_MIN = 1e9;

function folderProblems(folder: Folder): readonly Problem[] {
  const { path, freeBytes, isInMemory, writeErrorCode, isOpenToAll } = folder;
  const problems: Problem[] = [];
  if (writeErrorCode !== null)
    problems.push({
      what: `No file can be written in ${path} (${writeErrorCode}).`,
      advice: writeAdvice(writeErrorCode),
    });
  if (freeBytes < FREE_BYTES_MIN)
    problems.push({
      what: `The disk of ${path} has ${Math.floor(freeBytes / 1e6)} MB free.`,
      advice: "Free 1 GB at least, or choose a directory on another disk with --data-dir.",
    });
  if (isInMemory)
    problems.push({
      what: `${path} is in memory: everything is lost when the machine stops.`,
      advice: "Choose a directory on a disk with --data-dir, or give the container a volume.",
    });
  if (isOpenToAll)
    problems.push({
      what: `Every user of this machine may enter ${path}.`,
      advice: `Run: chmod 700 ${path}`,
    });
  return problems;
}

function writeAdvice(code: string): string {
  if (code === "EACCES" || code === "EPERM")
    return "Run the command as the owner of the directory, or give the directory to the server's user with chown.";
  if (code === "EROFS")
    return "The disk is mounted read-only: mount it for writing, or choose another with --data-dir.";
  if (code === "ENOSPC" || code === "EDQUOT") return "The disk or the quota is full: free some of it.";
  return "See the system's log for the state of the disk.";
}

/** This version was made later than this, so a correct clock shows a later time. */
const RELEASED_MS = Date.UTC(2026, 10, 1);
const AHEAD_MS_MAX = 60_000;

function clockProblems({ path, newestMs }: Folder, nowMs: number): readonly Problem[] {
  const advice = "Set the clock, and let NTP keep it right: reports from the future are refused.";
  const now = new Date(nowMs).toISOString();
  if (nowMs < RELEASED_MS) return [{ what: `The clock says ${now}, which is before this version.`, advice }];
  if (newestMs === null || newestMs <= nowMs + AHEAD_MS_MAX) return [];
  const newest = new Date(newestMs).toISOString();
  return [{ what: `The clock says ${now}, but ${path} has files of ${newest}.`, advice }];
}

const LONDON_SUMMER_HOUR = "13";

/** The hour in London at noon UTC in July, or the runtime's error. */
function summerHourOfLondon(): string {
  try {
    const format = new Intl.DateTimeFormat("en-GB", { timeZone: "Europe/London", hour: "2-digit" });
    return format.format(Date.UTC(2026, 6, 1, 12));
  } catch (error) {
    return String(error);
  }
}

export function zoneProblems(summerHour: string): readonly Problem[] {
  if (summerHour === LONDON_SUMMER_HOUR) return [];
  return [
    {
      what: `The runtime has no time zones: noon UTC in July is "${summerHour}" in Europe/London, and should be 13.`,
      advice: "Use the Bun of the packages, or an executable of a release, which bring their own.",
    },
  ];
}

async function portProblems(
  { hostname, port }: InstallOptions,
  { listen }: Pick<Platform, "listen">,
): Promise<readonly Problem[]> {
  try {
    const listener = await listen({ hostname, port, fetch: () => new Response(null, { status: 503 }) });
    await listener.stop(0);
    return [];
  } catch (error) {
    if (!(error instanceof ListenError)) throw error;
    return [{ what: "A server can't listen there.", advice: error.message }];
  }
}
