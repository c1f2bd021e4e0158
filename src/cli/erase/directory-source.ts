import { presentErasure, presentReport } from "../../http/endpoints/erasures/shapes.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { AppChoice } from "../arguments/app-choice.ts";
import type { CommandContext } from "../arguments/command.ts";
import { BY_COMMAND, errorSentence, openForApp } from "../directory/open-for-app.ts";
import type { EraseSource } from "./source.ts";

/** Erasures in a data directory that the command owns. */
export async function openDirectorySource(
  { dataDir, appId }: Extract<AppChoice, { kind: "directory" }>,
  dropsDamaged: boolean,
  context: CommandContext,
): Promise<Result<EraseSource, string>> {
  const opened = await openForApp(dataDir, "erase", context);
  if (!opened.ok) return opened;
  const { directory, signal } = opened.value;
  const { erase, eraser, close } = directory;
  return ok({
    async preview({ wanted }) {
      const preview = await erase.preview(appId, wanted, { signal });
      return preview.ok ? preview : fail(errorSentence(preview.error));
    },
    async create({ wanted }) {
      const request = { keyId: BY_COMMAND, nowMs: context.clock.nowMs() };
      const erased = await erase.create(appId, wanted, request, { signal });
      if (!erased.ok) return fail(errorSentence(erased.error));
      return ok({ id: erased.value.erasure.id });
    },
    async finished(id, onDaysLeft) {
      const obstacle = await eraser.finishNow({ dropsDamaged, onDaysLeft });
      if (obstacle !== null) return fail(`The erasure is not finished: ${obstacle}. The next start goes on.`);
      const { state, report } = (await eraser.find(appId, id))!;
      return ok({ ...presentErasure(state), ...(report === null ? {} : { report: presentReport(report) }) });
    },
    close,
  });
}
