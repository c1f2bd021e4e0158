import { ok } from "../../lib/result.ts";
import { printableLine } from "../../lib/text/printable.ts";
import type { CorrectionAction } from "../../model/correction.ts";
import type { CommandContext } from "../arguments/command.ts";
import { withSource } from "../directory/open-for-app.ts";
import { countOf } from "../screen/layout.ts";
import type { CorrectionsUndoOptions } from "./command.ts";
import { timeOf } from "./list.ts";
import type { CorrectionsMakeOptions } from "./make-command.ts";
import { type CorrectionRow, openSource } from "./source.ts";

/** How each action begins its last line: when it is done, and when it would be. */
const DEEDS: Readonly<Record<CorrectionAction, readonly [done: string, wouldBe: string]>> = {
  hide: ["Hidden:", "This would hide"],
  move: ["Moved:", "This would move"],
  shift_time: ["Shifted:", "This would shift"],
  assign: ["Assigned:", "This would assign"],
};

/** Makes a correction. Its id is all that standard output gets. */
export function makeCorrection(
  { choice, json, ...request }: CorrectionsMakeOptions,
  context: CommandContext,
): Promise<number> {
  const { terminal } = context;
  const { action } = request.wanted;
  return withSource(openSource(choice, `corrections ${action}`, context), context, async (source) => {
    const correction = await source.make(request);
    if (!correction.ok) return correction;
    const { id } = correction.value;
    if (json) terminal.out(`${JSON.stringify(correction.value, null, 2)}\n`);
    else if (id !== undefined) terminal.out(`${id}\n`);
    const [done, wouldBe] = DEEDS[action];
    const deed = request.isDryRun ? wouldBe : done;
    terminal.error(`${printableLine(`${deed} ${describe(correction.value)}.`)}\n`);
    return ok(undefined);
  });
}

export function undoCorrection(
  { choice, id }: CorrectionsUndoOptions,
  context: CommandContext,
): Promise<number> {
  return withSource(openSource(choice, "corrections undo", context), context, async (source) => {
    const undone = await source.undo(id);
    if (!undone.ok) return undone;
    context.terminal.error(`${printableLine(`The correction is undone: ${describe(undone.value)}.`)}\n`);
    return ok(undefined);
  });
}

function describe({ device_id, records, first, last }: CorrectionRow): string {
  const what = `${countOf(records, "record")} of "${device_id}"`;
  if (first === undefined || last === undefined) return what;
  return first === last ? `${what} at ${timeOf(first)}` : `${what} from ${timeOf(first)} to ${timeOf(last)}`;
}
