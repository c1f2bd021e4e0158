import type { OpenDirectory } from "../../app/directory.ts";
import type { LedgerContent } from "../../directory/erasure-ledger.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId, DeviceId, UserId } from "../../model/ids.ts";
import { type ErasureAgain, takeOverLedger } from "../../operator/backup/newer-ledger.ts";
import { PENDING_ERASURES_MAX } from "../../service/erasures/erase.ts";
import type { CommandContext } from "../arguments/command.ts";
import { openReadingDatabase, openSettings } from "./data-directory.ts";
import { BY_COMMAND, errorSentence, openAccess } from "./open-for-app.ts";
import { openForCommand } from "./open-for-command.ts";

const COMMAND = "restore";

/**
 * Erases in a restored directory what a newer ledger has as erased; the caller holds the directory's lock. Returns of
 * how many devices and users the directory had anything. The error is a sentence.
 */
export async function eraseAgain(
  dataDir: string,
  newer: LedgerContent,
  { platform, clock, terminal }: Pick<CommandContext, "platform" | "clock" | "terminal">,
): Promise<Result<{ readonly devices: number; readonly users: number }, string>> {
  const { files } = platform;
  const openDatabase = () => openReadingDatabase(dataDir);
  const erasures = await takeOverLedger({ files, dataDir, newer, nowMs: clock.nowMs(), openDatabase });
  if (!erasures.ok) return erasures;
  const subjects = new Set(erasures.value.flatMap((erasure) => erasure.subjects));
  const devices = [...subjects].filter(({ kind }) => kind === "device").length;
  const counts = { devices, users: subjects.size - devices };
  if (subjects.size === 0) return ok(counts);
  const { retention } = await openSettings(COMMAND, dataDir, platform, clock);
  const directory = await openForCommand({
    dataDir,
    platform,
    clock,
    retention,
    access: await openAccess(COMMAND, dataDir, platform, clock),
    say: (line) => terminal.error(`${line}\n`),
    onProgress: () => undefined,
    release: () => undefined,
  });
  try {
    const erased = await eraseAll(directory, erasures.value, clock.nowMs());
    return erased.ok ? ok(counts) : erased;
  } finally {
    await directory.close();
  }
}

async function eraseAll(
  directory: OpenDirectory,
  all: readonly ErasureAgain[],
  nowMs: number,
): Promise<Result<void, string>> {
  for (let start = 0; start < all.length; start += PENDING_ERASURES_MAX) {
    for (const again of all.slice(start, start + PENDING_ERASURES_MAX)) {
      const erased = await eraseOne(directory, again, nowMs);
      if (!erased.ok) return erased;
    }
    const obstacle = await directory.eraser.finishNow({ dropsDamaged: false, onDaysLeft: () => undefined });
    if (obstacle !== null) return fail(`An erasure can't be repeated: ${obstacle}.`);
  }
  return ok(undefined);
}

/** Corrections in the way are undone: they were so before the erasure that is repeated. */
async function eraseOne(
  { erase, correct }: Pick<OpenDirectory, "erase" | "correct">,
  { id, subjects: [{ kind, appId, id: subjectId }, ...others], range }: ErasureAgain,
  nowMs: number,
): Promise<Result<void, string>> {
  const subject =
    kind === "user"
      ? { userId: subjectId as UserId }
      : { deviceId: subjectId as DeviceId, others: others.map((other) => other.id as DeviceId) };
  const caller = { signal: new AbortController().signal };
  // The ledger has the block.
  const wanted = { subject, range, block: false };
  const make = () => erase.create(appId, wanted, { keyId: BY_COMMAND, nowMs, id }, caller);
  let erased = await make();
  if (!erased.ok && erased.error.kind === "corrections_in_the_way") {
    const undone = await undoAll(correct, appId, erased.error.ids, caller);
    if (!undone.ok) return undone;
    erased = await make();
  }
  return erased.ok ? ok(undefined) : fail(sentenceOf(erased.error));
}

async function undoAll(
  correct: OpenDirectory["correct"],
  appId: AppId,
  ids: readonly string[],
  caller: { readonly signal: AbortSignal },
): Promise<Result<void, string>> {
  for (const id of ids.toReversed()) {
    const undone = await correct.undo(appId, id, BY_COMMAND, caller);
    if (!undone.ok) return fail(sentenceOf(undone.error));
  }
  return ok(undefined);
}

function sentenceOf(error: ServiceError): string {
  return `An erasure can't be repeated: ${errorSentence(error)}`;
}
