import { fail, ok } from "../../lib/result.ts";
import { printableLine } from "../../lib/text/printable.ts";
import type { CommandContext } from "../arguments/command.ts";
import { withSource } from "../directory/open-for-app.ts";
import type { DevicesSetOptions } from "./command.ts";
import { openSource } from "./source.ts";

/** Sets some members of a device's profile, or deletes it. */
export function setDevice(
  { choice, deviceId, members }: DevicesSetOptions,
  context: CommandContext,
): Promise<number> {
  return withSource(openSource(choice, "devices set", context), context, async (source) => {
    const before = await source.find(deviceId);
    if (!before.ok) return before;
    if (members === null && before.value === null) return fail(`The device "${deviceId}" has no profile.`);
    const next = members === null ? null : { ...before.value, ...members };
    const stored = await source.set(deviceId, next);
    if (!stored.ok) return stored;
    const what = next === null ? "deleted" : "stored";
    context.terminal.error(printableLine(`The profile of "${deviceId}" is ${what}.`).concat("\n"));
    return ok(undefined);
  });
}
