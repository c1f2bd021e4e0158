import { printableLine } from "../../lib/text/printable.ts";
import type { CommandContext } from "../arguments/command.ts";
import { refuse } from "../screen/layout.ts";
import type { DevicesSetOptions } from "./command.ts";
import { openSource } from "./source.ts";

/** Sets some members of a device's profile, or deletes it. */
export async function setDevice(
  { choice, deviceId, members }: DevicesSetOptions,
  context: CommandContext,
): Promise<number> {
  const { terminal } = context;
  const source = await openSource(choice, "devices set", context);
  if (!source.ok) return refuse(printableLine(source.error), terminal);
  try {
    const before = await source.value.find(deviceId);
    if (!before.ok) return refuse(printableLine(before.error), terminal);
    if (members === null && before.value === null)
      return refuse(printableLine(`The device "${deviceId}" has no profile.`), terminal);
    const next = members === null ? null : { ...before.value, ...members };
    const stored = await source.value.set(deviceId, next);
    if (!stored.ok) return refuse(printableLine(stored.error), terminal);
    const what = next === null ? "deleted" : "stored";
    terminal.error(printableLine(`The profile of "${deviceId}" is ${what}.`).concat("\n"));
    return 0;
  } finally {
    await source.value.close();
  }
}
