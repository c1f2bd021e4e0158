import { jsonFindings } from "./json-findings.ts";

/** Run by Deno, whose answer a test compares with Bun's. */
console.log(await jsonFindings());
