import { writeFileSync } from "node:fs";
import { join } from "node:path";
import openapiTS, { astToString } from "openapi-typescript";
import { createTestApp } from "../../support/test-app.ts";

/**
 * Writes the types of the TypeScript example from the document that the server answers `/docs` with. They are not
 * committed, so a new field or endpoint has one file less to change.
 */
const app = await createTestApp();
const document = await (await app.fetch("/docs")).text();
const types = astToString(await openapiTS(document));
writeFileSync(join(import.meta.dir, "../../../examples/typescript/wherehouse.d.ts"), types);
