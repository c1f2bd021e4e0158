import { afterAll, describe } from "bun:test";
import { randomRuns } from "../support/random-runs.ts";
import { closePlace, openPlace, RUNTIMES } from "../support/server-process.ts";
import { fuzzServer } from "../system/security/support/fuzz-server.ts";
import { installSchemathesis } from "../system/security/support/schemathesis.ts";
import { test } from "../system/support/process-test.ts";

/** Like `test/system/security/schemathesis.test.ts`, on both runtimes and with more requests. */

const program = await installSchemathesis();

describe.each([...RUNTIMES])("on $name", (runtime) => {
  const place = openPlace();
  afterAll(() => closePlace(place));

  test.if(program !== null)("Schemathesis finds nothing that the document does not say", () =>
    fuzzServer(program!, runtime, place, randomRuns(5)),
  );
});
