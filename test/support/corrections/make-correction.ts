import type { AppId } from "../../../src/model/ids.ts";
import { parseNewCorrection } from "../../../src/service/corrections/new-correction.ts";
import type { ArchiveApp } from "../archive-app.ts";
import { APP_ID } from "../test-app.ts";

/* Corrections of the test's app, made and undone without HTTP. They throw if the service refuses. */

const KEY_ID = "key";
const { signal } = new AbortController();

type CorrectedApp = Pick<ArchiveApp, "directory" | "clock">;

/** Makes a correction with these members; returns its id. */
export async function makeCorrection(
  { directory, clock }: CorrectedApp,
  members: Record<string, unknown>,
  correct = directory.correct,
): Promise<string> {
  const wanted = parseNewCorrection(members);
  if (!wanted.ok) throw new Error(wanted.error);
  const request = { keyId: KEY_ID, nowMs: clock.nowMs(), repetition: null };
  const created = await correct.create(APP_ID as AppId, wanted.value, request, { signal });
  if (!created.ok) throw new Error(JSON.stringify(created.error));
  return created.value.item.correction.id;
}

export async function undoCorrection(
  { directory }: Pick<ArchiveApp, "directory">,
  id: string,
  correct = directory.correct,
): Promise<void> {
  const undone = await correct.undo(APP_ID as AppId, id, KEY_ID, { signal });
  if (!undone.ok) throw new Error(JSON.stringify(undone.error));
}
