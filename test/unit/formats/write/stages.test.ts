import { expect, test } from "bun:test";
import { WRITE_FORMATS } from "../../../../src/formats/write/formats.ts";
import * as fc from "../../../support/fast-check.ts";
import { unzip } from "../../../support/formats/unzip.ts";
import { BASE_MS } from "../../../support/reports/arbitrary-reports.ts";
import { arbitraryAnyReport, writeFile, writeText } from "./arbitrary-records.ts";

test("devices are numbered in order of first appearance, over the whole file, and users are left out", () => {
  const batches = fc.array(fc.array(arbitraryAnyReport, { maxLength: 4 }), { maxLength: 3 });
  fc.assert(
    fc.property(batches, (written) => {
      const reports = written.flat();
      const devices = [...new Set(reports.map(({ device_id }) => device_id))];
      const redacted = writeText("ndjson", written, { redact: true }).split("\n").slice(0, -1);
      const expected = reports.map(({ user_id: _, ...rest }) => {
        return { ...rest, device_id: `device-${devices.indexOf(rest.device_id) + 1}` };
      });
      expect(redacted.map((line) => JSON.parse(line))).toEqual(JSON.parse(JSON.stringify(expected)));
    }),
  );
});

test("no format tells a name that was to be redacted", async () => {
  const report = {
    device_id: "anna:pixel",
    user_id: "anna-b",
    timestamp: BASE_MS,
    latitude: 1,
    longitude: 2,
  };
  for (const { name } of WRITE_FORMATS) {
    const text = async (redact: boolean) => {
      const bytes = writeFile(name, [[report]], { redact });
      return new TextDecoder().decode(name === "kmz" ? (await unzip(bytes))[0]!.bytes : bytes);
    };
    expect(await text(false)).toContain("pixel");
    expect(await text(true)).toContain("device-1");
    expect(await text(true)).not.toMatch(/anna|pixel/);
  }
});
