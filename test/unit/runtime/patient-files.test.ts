import { expect, test } from "bun:test";
import type { FileError } from "../../../src/runtime/files.ts";
import { createPatientFiles } from "../../../src/runtime/patient-files.ts";
import { createSimulatedFiles } from "../../support/disk/simulated-files.ts";

const PATH = "/data/file";

function patient(isWanted: () => boolean = () => true) {
  const files = createSimulatedFiles(new Map([[PATH, new Uint8Array([1, 2])]]));
  const waitedFor: string[] = [];
  const onWaiting = (error: unknown) => waitedFor.push((error as FileError).code);
  return { files, waitedFor, disk: createPatientFiles(files, { isWanted, onWaiting }) };
}

test("createPatientFiles() tries again until there is a descriptor", async () => {
  const { files, waitedFor, disk } = patient();
  let left = 2;
  files.beforeOperation = (operation) => {
    if (left-- > 0) files.failNext(operation, "EMFILE");
  };
  expect(await disk.read(PATH)).toEqual(new Uint8Array([1, 2]));
  expect(waitedFor).toEqual(["EMFILE", "EMFILE"]);
});

test("createPatientFiles() hands on what does not pass by itself", async () => {
  const { files, waitedFor, disk } = patient();
  for (const code of ["EIO", "ENOSPC", "EACCES"]) {
    files.failNext("read", code);
    expect(await disk.read(PATH).catch((error: FileError) => error.code)).toBe(code);
  }
  expect(waitedFor).toEqual([]);
});

test("createPatientFiles() waits no longer than it is wanted", async () => {
  let left = 1;
  const { files, waitedFor, disk } = patient(() => left-- > 0);
  files.beforeOperation = (operation) => files.failNext(operation, "ENFILE");
  expect(await disk.read(PATH).catch((error: FileError) => error.code)).toBe("ENFILE");
  expect(waitedFor).toEqual(["ENFILE"]);
});
