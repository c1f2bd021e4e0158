import { messageOf } from "../../lib/message-of.ts";
import { fail, ok } from "../../lib/result.ts";
import type { CommandContext } from "../arguments/command.ts";
import { withSource } from "../directory/open-for-app.ts";
import { countOf } from "../screen/layout.ts";
import type { GeofencesImportOptions } from "./command.ts";
import { openSource } from "./source.ts";

export async function importGeofences(
  { choice, file, radiusMeters, bufferMeters, isDryRun }: GeofencesImportOptions,
  context: CommandContext,
): Promise<number> {
  const { terminal, platform } = context;
  return withSource(openSource(choice, "geofences import", context), context, async (source) => {
    let bytes: Uint8Array;
    try {
      bytes = await platform.files.read(file);
    } catch (error) {
      return fail(messageOf(error));
    }
    const extents = { radiusMeters, bufferMeters };
    const imported = await source.import({ bytes: new Uint8Array(bytes), extents, isDryRun });
    if (!imported.ok) return imported;
    const { geofences, ids } = imported.value;
    for (const id of ids) terminal.out(`${id}\n`);
    const said = isDryRun ? "The file has" : "Made";
    terminal.error(`${said} ${countOf(geofences, "geofence")}.\n`);
    return ok(undefined);
  });
}
