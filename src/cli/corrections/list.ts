import { ok } from "../../lib/result.ts";
import { printableLine } from "../../lib/text/printable.ts";
import type { CommandContext } from "../arguments/command.ts";
import { withSource } from "../directory/open-for-app.ts";
import { formatCount, formatTable } from "../screen/layout.ts";
import type { CorrectionsListOptions } from "./command.ts";
import { type CorrectionRow, openSource } from "./source.ts";

const HEADER = ["id", "state", "does", "device", ">records", "first", "last", "note"];

export function listCorrections(
  { choice, json, ...filter }: CorrectionsListOptions,
  context: CommandContext,
): Promise<number> {
  const { terminal } = context;
  return withSource(openSource(choice, "corrections list", context), context, async (source) => {
    const list = await source.list(filter);
    if (!list.ok) return list;
    if (json) terminal.out(`${JSON.stringify(list.value, null, 2)}\n`);
    else if (list.value.length === 0) terminal.error("There are no such corrections.\n");
    else terminal.out(formatTable(HEADER, list.value.map(row)));
    return ok(undefined);
  });
}

function row({ id, state, action, device_id, records, first, last, note }: CorrectionRow): string[] {
  const cells = [id, state, action, device_id, formatCount(records), timeOf(first), timeOf(last), note];
  return cells.map((cell) => printableLine(cell ?? "-"));
}

export function timeOf(timestampMs: number | undefined): string {
  return timestampMs === undefined ? "-" : new Date(timestampMs).toISOString();
}
