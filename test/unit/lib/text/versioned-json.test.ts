import { expect, test } from "bun:test";
import { fail } from "../../../../src/lib/result.ts";
import { parseVersionedJson } from "../../../../src/lib/text/versioned-json.ts";

const parse = (text: string) => parseVersionedJson(new TextEncoder().encode(text), 2);

test("parseVersionedJson() gives the members of a file of the version", () => {
  expect(parse('{"version":2,"keys":[]}')).toEqual({ ok: true, value: { version: 2, keys: [] } });
});

test("parseVersionedJson() says what is wrong with a file", () => {
  const noObject = fail("it is not a JSON object");
  for (const text of ["", "[]", "null", '"version"', '{"version":1']) expect(parse(text)).toEqual(noObject);
  expect(parseVersionedJson(Uint8Array.of(0x7b, 0xff, 0x7d), 2)).toEqual(noObject);
  for (const version of ["null", "0", "1.5", '"1"', "-1"]) {
    expect(parse(`{"version":${version}}`)).toEqual(fail("its format version is missing"));
  }
  for (const [version, writer] of [
    [1, "program from before the first release"],
    [3, "newer program"],
  ]) {
    expect(parse(`{"version":${version}}`)).toEqual(
      fail(`it has format version ${version} of a ${writer}, and this program reads version 2`),
    );
  }
});
