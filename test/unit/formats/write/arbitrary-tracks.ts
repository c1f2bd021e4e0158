import fc from "fast-check";
import { arbitraryAnyReport } from "./arbitrary-records.ts";

type AnyReport = (typeof arbitraryAnyReport extends fc.Arbitrary<infer Value> ? Value : never) & {
  readonly timestamp: number;
};

/** Reports as formats of tracks get them: device by device, in order of time, in batches cut anywhere. */
export const arbitraryTracks = fc
  .tuple(fc.array(arbitraryAnyReport, { maxLength: 30 }), fc.constantFrom(1, 3, 100))
  .map(([reports, batchRows]) => {
    const byKey = new Map<string, AnyReport>();
    // Few devices, so that they have tracks.
    const devices = [...new Set(reports.map(({ device_id }) => device_id))].slice(0, 3);
    for (const [index, report] of reports.entries()) {
      const device_id = devices[index % devices.length]!;
      byKey.set(`${device_id} ${report.timestamp}`, { ...report, device_id });
    }
    const sorted = [...byKey.values()].sort(
      (a, b) => devices.indexOf(a.device_id) - devices.indexOf(b.device_id) || a.timestamp - b.timestamp,
    );
    const batches: AnyReport[][] = [];
    for (let at = 0; at < sorted.length; at += batchRows) batches.push(sorted.slice(at, at + batchRows));
    return { reports: sorted, batches };
  });

/** A name as XML can hold it. */
export function xmlText(text: string): string {
  return text.replaceAll(/[\uFFFE\uFFFF]/g, "\uFFFD");
}

/** Stretches of reports that each begin where `begins` says so. */
export function splitBefore<Item>(
  items: readonly Item[],
  begins: (item: Item, before: Item) => boolean,
): Item[][] {
  const parts: Item[][] = [];
  for (const [index, item] of items.entries()) {
    if (index === 0 || begins(item, items[index - 1]!)) parts.push([]);
    parts.at(-1)!.push(item);
  }
  return parts;
}

/** A number as decimals of a schema can say it; undefined stays what it is. */
export function xmlNumber(value: number): number;
export function xmlNumber(value: number | undefined): number | undefined;
export function xmlNumber(value: number | undefined): number | undefined {
  if (value === undefined) return undefined;
  return (Math.abs(value) < 1e-6 ? Number(value.toFixed(18)) : value) + 0; // Without the sign of a zero.
}
