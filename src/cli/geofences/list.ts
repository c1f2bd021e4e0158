import type { FenceFeature } from "../../geofences/present.ts";
import { ok } from "../../lib/result.ts";
import { printableLine } from "../../lib/text/printable.ts";
import type { CommandContext } from "../arguments/command.ts";
import { withSource } from "../directory/open-for-app.ts";
import { formatTable } from "../screen/layout.ts";
import type { GeofencesExportOptions, GeofencesListOptions } from "./command.ts";
import { openSource } from "./source.ts";

const HEADER = ["id", ">version", "area", "active", "name", "tags"];

export function listGeofences(
  { choice, tag, json }: GeofencesListOptions,
  context: CommandContext,
): Promise<number> {
  const { terminal } = context;
  return withSource(openSource(choice, "geofences list", context), context, async (source) => {
    const list = await source.list(tag);
    if (!list.ok) return list;
    if (json) terminal.out(`${JSON.stringify(list.value, null, 2)}\n`);
    else if (list.value.length === 0) terminal.error("There are no such geofences.\n");
    else terminal.out(formatTable(HEADER, list.value.map(row)));
    return ok(undefined);
  });
}

function row({ id, version, geometry, properties }: FenceFeature): string[] {
  const { active, name, tags } = properties;
  const cells = [id, version, geometry.type, active === false ? "no" : "yes", name, tags];
  return cells.map((cell) => printableLine(String(cell ?? "-")));
}

export function exportGeofences(
  { choice }: GeofencesExportOptions,
  context: CommandContext,
): Promise<number> {
  return withSource(openSource(choice, "geofences export", context), context, async (source) => {
    const list = await source.list(null);
    if (!list.ok) return list;
    const features = list.value.map((feature) => JSON.stringify(feature)).join(",\n");
    context.terminal.out(`{"type":"FeatureCollection","features":[\n${features}\n]}\n`);
    return ok(undefined);
  });
}
