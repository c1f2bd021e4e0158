import { fail, ok, type Result } from "../../lib/result.ts";
import { printableLine } from "../../lib/text/printable.ts";
import type { ErasurePreview } from "../../service/erasures/erase.ts";
import type { AppChoice } from "../arguments/app-choice.ts";
import type { CommandContext } from "../arguments/command.ts";
import { withSource } from "../directory/open-for-app.ts";
import { countOf } from "../screen/layout.ts";
import type { EraseOptions } from "./command.ts";
import { openDirectorySource } from "./directory-source.ts";
import { serverSource } from "./server-source.ts";
import type { EraseSource } from "./source.ts";

/** Erases, after a question. The erasure's id is all that standard output gets. */
export function erase(options: EraseOptions, context: CommandContext): Promise<number> {
  const { choice, dropsDamaged, isDryRun } = options;
  const { terminal } = context;
  return withSource(openSource(choice, dropsDamaged, context), context, async (source) => {
    const preview = await source.preview(options);
    if (!preview.ok) return preview;
    say(context, `This ${isDryRun ? "would destroy" : "destroys"} ${describe(options, preview.value)}.`);
    if (isDryRun) return ok(undefined);
    if (!options.yes) {
      const answer = await context.platform.readTypedLine(() =>
        terminal.error("It can't be undone. Erase? [y/N] "),
      );
      if (answer === null) return fail("Nothing was erased: give --yes to erase.");
      if (!/^y(es)?$/i.test(answer.trim())) return fail("Nothing was erased.");
    }
    return eraseWith(source, options, context);
  });
}

async function eraseWith(
  source: EraseSource,
  options: EraseOptions,
  context: CommandContext,
): Promise<Result<void, string>> {
  const { choice, isNow, report } = options;
  const erased = await source.create(options);
  if (!erased.ok) return erased;
  const { id } = erased.value;
  context.terminal.out(`${id}\n`);
  say(context, "No answer shows any of it from now on.");
  if (choice.kind === "server" && !isNow) {
    say(context, "The server rewrites its files; --now waits for that.");
    return ok(undefined);
  }
  const finished = await source.finished(id, (days) => {
    if (days > 0) say(context, `${countOf(days, "archived day")} to go.`);
  });
  if (!finished.ok) return finished;
  say(context, "No file of the server has any of it, except what the report names.");
  if (report !== null) {
    const subject = options.members;
    const bytes = new TextEncoder().encode(`${JSON.stringify({ ...subject, ...finished.value }, null, 2)}\n`);
    await context.platform.files.replace(report, bytes);
    say(context, `The report is in ${report}.`);
  }
  return ok(undefined);
}

function describe({ members }: EraseOptions, { records, devices, corrections }: ErasurePreview): string {
  const subject =
    members.device_id === undefined ? `the user "${members.user_id}"` : `the device "${members.device_id}"`;
  const others = devices > 1 ? ` of ${countOf(devices, "device")}` : "";
  const corrected = corrections === 0 ? "" : `, ${countOf(corrections, "correction")}`;
  return `what is stored about ${subject}: ${countOf(records, "record")}${others}${corrected}`;
}

function say({ terminal }: Pick<CommandContext, "terminal">, text: string): void {
  terminal.error(`${printableLine(text)}\n`);
}

function openSource(
  choice: AppChoice,
  dropsDamaged: boolean,
  context: CommandContext,
): Promise<Result<EraseSource, string>> {
  if (choice.kind === "server") return Promise.resolve(ok(serverSource(choice, context)));
  return openDirectorySource(choice, dropsDamaged, context);
}
