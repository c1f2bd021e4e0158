import { printableLine } from "../../lib/text/printable.ts";
import type { CommandContext } from "../arguments/command.ts";
import { formatTable, refuse } from "../screen/layout.ts";
import type { DevicesListOptions } from "./command.ts";
import { type DeviceRow, openSource } from "./source.ts";

const HEADER = ["device", "name", "last seen", "color", "icon", "tags"];

export async function listDevices(
  { choice, text, tag, json }: DevicesListOptions,
  context: CommandContext,
): Promise<number> {
  const { terminal } = context;
  const source = await openSource(choice, "devices list", context);
  if (!source.ok) return refuse(printableLine(source.error), terminal);
  try {
    const devices = await source.value.list({ text, tag });
    if (!devices.ok) return refuse(printableLine(devices.error), terminal);
    if (json) terminal.out(`${JSON.stringify(devices.value, null, 2)}\n`);
    else if (devices.value.length === 0) terminal.error("There are no such devices.\n");
    else terminal.out(formatTable(HEADER, devices.value.map(row)));
    return 0;
  } finally {
    await source.value.close();
  }
}

function row({ device_id, name, last_seen, color, icon, tags = [] }: DeviceRow): string[] {
  const seen = last_seen === undefined ? "-" : `${new Date(last_seen).toISOString().slice(0, 19)}Z`;
  const cells = [device_id, name ?? "-", seen, color ?? "-", icon ?? "-", tags.join(", ") || "-"];
  return cells.map(printableLine);
}
