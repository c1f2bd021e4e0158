import { createTestApp } from "../../support/test-app.ts";

/** Prints the document that the server answers `/docs` with, on whichever runtime this is. */
const app = await createTestApp();
console.log(await (await app.fetch("/docs")).text());
