import { expect, test } from "bun:test";
import { verifyQuarantine } from "../../../../src/operator/verify/quarantine.ts";
import { FileError } from "../../../../src/runtime/files.ts";
import { REMOVED_FILE } from "../../../../src/service/quarantine/message-file.ts";
import { createSimulatedFiles } from "../../../support/disk/simulated-files.ts";
import { DIRECTORY, openTestQuarantine, refused } from "../../service/quarantine/fixture.ts";

/** Two messages that a seal has covered, and one behind. */
async function createQuarantine() {
  const files = createSimulatedFiles();
  const { quarantine, messages, seal } = await openTestQuarantine(files);
  await quarantine.put(["a", "b"].map((body) => refused(body)));
  await seal();
  await quarantine.put([refused("c")]);
  await messages.files.settle();
  const paths = [...files.contents().keys()].filter((path) => path.startsWith(`${DIRECTORY}/`)).sort();
  return { contents: files.contents(), paths };
}

test("verifyQuarantine() names a message with any flipped bit, if the archive covers it", async () => {
  const { contents, paths } = await createQuarantine();
  const bytes = contents.get(paths[0]!)!;
  expect(await verifyQuarantine(createSimulatedFiles(contents), DIRECTORY, 2)).toMatchObject({
    entries: 3,
    problems: [],
  });
  for (const at of [0, 8, 13, 17, 21, 25, 40, bytes.length - 1]) {
    const flipped = new Map(contents).set(paths[0]!, bytes.with(at, bytes[at]! ^ 1));
    const report = await verifyQuarantine(createSimulatedFiles(flipped), DIRECTORY, 2);
    expect([at, report.entries, report.problems]).toEqual([
      at,
      2,
      [`${paths[0]}: ${bytes.length} damaged bytes at 0`],
    ]);
  }
});

test("verifyQuarantine() calls the rest of an interrupted write no damage", async () => {
  const { contents, paths } = await createQuarantine();
  contents.set(paths[2]!, contents.get(paths[2]!)!.slice(0, 40));
  const report = await verifyQuarantine(createSimulatedFiles(contents), DIRECTORY, 2);
  expect(report).toMatchObject({ entries: 2, problems: [] });
});

test("verifyQuarantine() calls a message that is being removed no damage", async () => {
  const { contents, paths } = await createQuarantine();
  contents.set(paths[0]!, REMOVED_FILE);
  const report = await verifyQuarantine(createSimulatedFiles(contents), DIRECTORY, 2);
  expect(report).toMatchObject({ entries: 2, problems: [] });
});

test("verifyQuarantine() names a file that can't be read", async () => {
  const { contents, paths } = await createQuarantine();
  const files = createSimulatedFiles(contents);
  files.beforeOperation = (operation, path) => {
    if (operation === "read" && path === paths[1]) throw new FileError(operation, path, "EIO");
  };
  expect((await verifyQuarantine(files, DIRECTORY, 2)).problems).toEqual([`${paths[1]} can't be read`]);
});
