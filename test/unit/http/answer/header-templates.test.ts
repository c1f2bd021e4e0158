import { expect, test } from "bun:test";
import { HeaderTemplates, type MoreHeaders, SECURITY_HEADERS } from "../../../../src/http/answer/headers.ts";
import * as fc from "../../../support/fast-check.ts";

test("HeaderTemplates answer as new headers do, whatever other answers came before", () => {
  const names = ["ratelimit", "etag", "wherehouse-sequence", "cache-control", "content-type"];
  const more = fc
    .subarray(names)
    .chain((chosen) =>
      fc.tuple(...chosen.map((name) => fc.constantFrom("1", "2").map((value) => [name, value] as const))),
    );
  fc.assert(
    fc.property(fc.array(fc.record({ more, isCompressible: fc.boolean() }), { maxLength: 30 }), (answers) => {
      const templates = new HeaderTemplates();
      for (const { more, isCompressible } of answers) {
        const added: MoreHeaders = Object.fromEntries(more);
        const headers = templates.of(added, isCompressible);
        const fresh = new Headers({
          "content-type": "application/json",
          "cache-control": "no-store",
          ...SECURITY_HEADERS,
          ...(isCompressible ? { vary: "Accept-Encoding" } : {}),
          ...added,
        });
        expect([...headers]).toEqual([...fresh]);
      }
    }),
    { numRuns: 100 },
  );
});
