import { ok } from "../../lib/result.ts";
import { printableLine } from "../../lib/text/printable.ts";
import type { CommandContext } from "../arguments/command.ts";
import { withSource } from "../directory/open-for-app.ts";
import { formatTable } from "../screen/layout.ts";
import type { DevicesListOptions } from "./command.ts";
import { type DeviceRow, openSource } from "./source.ts";

const HEADER = ["device", "name", "last seen", "color", "icon", "tags"];

export function listDevices(
  { choice, text, tag, json }: DevicesListOptions,
  context: CommandContext,
): Promise<number> {
  const { terminal } = context;
  return withSource(openSource(choice, "devices list", context), context, async (source) => {
    const devices = await source.list({ text, tag });
    if (!devices.ok) return devices;
    if (json) terminal.out(`${JSON.stringify(devices.value, null, 2)}\n`);
    else if (devices.value.length === 0) terminal.error("There are no such devices.\n");
    else terminal.out(formatTable(HEADER, devices.value.map(row)));
    return ok(undefined);
  });
}

function row({ device_id, name, last_seen, color, icon, tags = [] }: DeviceRow): string[] {
  const seen = last_seen === undefined ? "-" : `${new Date(last_seen).toISOString().slice(0, 19)}Z`;
  const cells = [device_id, name ?? "-", seen, color ?? "-", icon ?? "-", tags.join(", ") || "-"];
  return cells.map(printableLine);
}
