import { expect, test } from "bun:test";
import { openSkipReport, reportFault } from "../../../src/import/skip-report.ts";
import { createSimulatedFiles } from "../../support/disk/simulated-files.ts";

const skip = (place: number) => ({
  origin: { source: 0, label: "a.gpx", placeUnit: "line" as const },
  place,
  reason: "no_time" as const,
  message: null,
});
const line = (place: number) => `{"file":"a.gpx","place":${place},"unit":"line","reason":"no_time"}\n`;

test("a report goes on after what an earlier run settled", async () => {
  const files = createSimulatedFiles();
  await files.makeDirectory("dir");
  const text = async () => new TextDecoder().decode(await files.read("dir/r"));
  const first = await openSkipReport(files, "dir/r", 0);
  await first.add([skip(1)]);
  const settled = await first.sync();
  await first.add([skip(2), skip(3)]);
  await first.close();
  expect(await text()).toBe(line(1) + line(2) + line(3));
  const second = await openSkipReport(files, "dir/r", settled);
  await second.add([skip(2)]);
  expect(await second.sync()).toBe(2 * settled);
  await second.close();
  expect(await text()).toBe(line(1) + line(2));
  await (await openSkipReport(files, "dir/r", 0)).close();
  expect(await text()).toBe("");
});

test("a message is told where there is one", async () => {
  const files = createSimulatedFiles();
  await files.makeDirectory("dir");
  const report = await openSkipReport(files, "dir/r", 0);
  await report.add([{ ...skip(1), reason: "rejected", message: "it is not valid JSON" }]);
  await report.close();
  expect(new TextDecoder().decode(await files.read("dir/r"))).toContain(
    '"message":"it is not valid JSON"}\n',
  );
});

test("nothing is written over that is no report", async () => {
  const files = createSimulatedFiles();
  await files.makeDirectory("dir");
  async function faultOf(text: string): Promise<string | null> {
    await files.replace("dir/r", new TextEncoder().encode(text));
    return reportFault(files, "dir/r");
  }
  expect(await reportFault(files, "dir/r")).toBeNull();
  expect([await faultOf(""), await faultOf(line(1)), await faultOf(line(1).slice(0, 20))]).toEqual([
    null,
    null,
    null,
  ]);
  for (const text of ["device_id,timestamp\n", '{"device_id":"a"}\n', "{"])
    expect(await faultOf(text)).toContain('"dir/r" is there, and is no report of an import');
});
