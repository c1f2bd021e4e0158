import { afterAll } from "bun:test";
import { randomRuns } from "../../support/random-runs.ts";
import { closePlace, openPlace, RUNTIMES } from "../../support/server-process.ts";
import { test } from "../support/process-test.ts";
import { fuzzServer } from "./support/fuzz-server.ts";
import { installSchemathesis } from "./support/schemathesis.ts";

/*
 * Goal: whatever a stranger makes of the document, the real program answers as the document says, and never with
 * a failure of its own. Method: Schemathesis over the network, on Bun; `npm run test:long` tries Deno, and longer.
 */

/** Requests of each operation; set it higher to look for longer. */
const EXAMPLES = Number(process.env.WHEREHOUSE_FUZZ_EXAMPLES ?? randomRuns(3));
const [BUN] = RUNTIMES;

const program = await installSchemathesis(); // The first run on a machine installs it.
const place = openPlace();
afterAll(() => closePlace(place));

test.if(program !== null)("Schemathesis finds nothing that the document does not say", () =>
  fuzzServer(program!, BUN!, place, EXAMPLES),
);
