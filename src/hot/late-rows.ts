import type { ReportBatch } from "../model/report-batch.ts";
import type { TimeRange } from "../time/range.ts";
import { type Chunk, timestampAt } from "./chunk.ts";
import type { DayLedger, LedgerDay } from "./day-ledger.ts";
import type { Device } from "./device.ts";
import type { Dictionary } from "./dictionary.ts";
import { ReportCollector } from "./report-collector.ts";

/** Whether memory holds anything of a sealed day that the archive does not. */
export function holdsLate({ count, isLeaving, changed }: LedgerDay): boolean {
  return isLeaving ? changed!.size > 0 : count > 0;
}

/** The late rows of these devices in a range of sealed days; null where there are none. */
export function collectLateRows(
  devices: readonly Device[],
  range: TimeRange,
  ledger: DayLedger,
  dictionary: Dictionary,
): ReportBatch | null {
  let rowsMax = 0;
  for (const device of devices) rowsMax += rowsIn(device, range).count;
  if (rowsMax === 0) return null;
  const collector = new ReportCollector(rowsMax, dictionary);
  for (const device of devices) {
    const { from, to } = rowsIn(device, range);
    device.track.runs(from, to, (chunk, rowFrom, rowTo) => {
      for (let row = rowFrom; row < rowTo; row++) {
        if (isLate(ledger, device, chunk, row)) collector.add(device.id, chunk, row);
      }
    });
  }
  return collector.count === 0 ? null : collector.build();
}

function rowsIn({ track }: Device, { startMs, endMs }: TimeRange) {
  const from = track.countBefore(startMs);
  const to = track.countBefore(endMs);
  return { from, to, count: to - from };
}

/** A row of a day that is leaving is in the archive as it is, unless it has changed. */
function isLate(ledger: DayLedger, device: Device, chunk: Chunk, row: number): boolean {
  const timestampMs = timestampAt(chunk, row);
  const { isLeaving, changed } = ledger.at(timestampMs);
  return !isLeaving || changed!.get(device)?.has(timestampMs) === true;
}
