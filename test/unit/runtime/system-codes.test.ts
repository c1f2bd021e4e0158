import { expect, test } from "bun:test";
import { describeCode, FileError } from "../../../src/runtime/files.ts";

test("describeCode() says what a code means, and leaves one alone that it does not know", () => {
  expect(describeCode("EACCES")).toBe("permission denied (EACCES)");
  expect(describeCode("EUCLEAN")).toBe("EUCLEAN");
  expect(describeCode("constructor")).toBe("constructor");
});

test("a FileError says in words what went wrong, and what can be done", () => {
  const error = new FileError("open", "/data/x", "EMFILE");
  expect(error).toMatchObject({
    message: 'Cannot open "/data/x": this process has too many files open (EMFILE)',
    code: "EMFILE",
    reason: "this process has too many files open (EMFILE)",
  });
  const advised = new FileError("make directory", "/data", "EACCES", undefined, "Ask root");
  expect(advised.message).toBe('Cannot make directory "/data": permission denied (EACCES). Ask root');
});
