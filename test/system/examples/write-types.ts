import { writeFileSync } from "node:fs";
import { join } from "node:path";
import openapiTS, { astToString } from "openapi-typescript";
import { createTestApp } from "../../support/test-app.ts";

/**
 * Writes the types of the TypeScript example, and those of the client, from the document that the server answers
 * `/docs` with. They are not committed, so a new field or endpoint has no file more to change.
 */
const app = await createTestApp();
const document = await (await app.fetch("/docs")).text();
const types = astToString(await openapiTS(document));
for (const path of ["examples/typescript/wherehouse.d.ts", "deploy/client/schema.d.ts"])
  writeFileSync(join(import.meta.dir, "../../..", path), types);
