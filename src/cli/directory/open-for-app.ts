import type { OpenDirectory } from "../../app/directory.ts";
import type { AccessDependencies } from "../../auth/erase-access.ts";
import { PassPhrases } from "../../auth/pass-phrases.ts";
import { directoryPaths } from "../../directory/paths.ts";
import { DirectoryInUseError, takeDirectory } from "../../directory/take-directory.ts";
import { answerError } from "../../http/errors.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { printableLine } from "../../lib/text/printable.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { Retention } from "../../model/time/retention.ts";
import type { CommandContext } from "../arguments/command.ts";
import { expectNoNode } from "../cluster/node-directory.ts";
import { openKeys } from "../keys/keys.ts";
import { refuse } from "../screen/layout.ts";
import { expectDataDirectory, openSettings } from "./data-directory.ts";
import { openForCommand, releasing } from "./open-for-command.ts";

/** What a correction or an erasure of a command has in place of the id of a key. */
export const BY_COMMAND = "command";

/** An error of a service as a sentence. */
export function errorSentence(error: ServiceError): string {
  return `${String(answerError(error).body.message)}.`;
}

export interface DirectoryOfApp {
  readonly directory: OpenDirectory;
  readonly retention: Retention;
  readonly signal: AbortSignal;
}

/**
 * Lets a command work with what it opened, and closes that. Prints an error, which is a sentence, and returns the exit
 * code.
 */
export async function withSource<Source extends { close(): Promise<void> }>(
  opening: Promise<Result<Source, string>>,
  { terminal }: Pick<CommandContext, "terminal">,
  work: (source: Source) => Promise<Result<void, string>>,
): Promise<number> {
  const source = await opening;
  if (!source.ok) return refuse(printableLine(source.error), terminal);
  try {
    const done = await work(source.value);
    return done.ok ? 0 : refuse(printableLine(done.error), terminal);
  } finally {
    await source.value.close();
  }
}

const ASK_NODE = "Give --url and --key of any of its nodes.";

/** What erasures revoke. */
export async function openAccess(
  command: string,
  dataDir: string,
  platform: CommandContext["platform"],
  clock: CommandContext["clock"],
): Promise<AccessDependencies> {
  const { files, acquireLock, pid } = platform;
  const { passPhrases: path } = directoryPaths(dataDir);
  return {
    keys: await openKeys(command, dataDir, platform, clock),
    passPhrases: await PassPhrases.open({ files, path, clock, acquireLock, process: { pid, command } }),
  };
}

/** Opens a data directory for a command that has `--url` for running servers. The error is a sentence. */
export async function openForApp(
  dataDir: string,
  command: string,
  { platform, clock, terminal, stopSignal }: CommandContext,
): Promise<Result<DirectoryOfApp, string>> {
  const { files } = platform;
  await expectDataDirectory(files, dataDir);
  await expectNoNode(files, dataDir, ASK_NODE);
  const signal = stopSignal();
  try {
    const release = await takeDirectory(dataDir, command, platform, clock);
    const { retention } = await openSettings(command, dataDir, platform, clock).catch(releasing(release));
    const directory = await openForCommand({
      dataDir,
      platform,
      clock,
      retention,
      access: await openAccess(command, dataDir, platform, clock).catch(releasing(release)),
      say: (line) => terminal.error(`${line}\n`),
      onProgress: () => undefined,
      signal,
      release,
    });
    return ok({ directory, retention, signal });
  } catch (error) {
    if (!(error instanceof DirectoryInUseError)) throw error;
    return fail(`${error.message} To ask a running server, use ${error.urlFlag} and --key.`);
  }
}
