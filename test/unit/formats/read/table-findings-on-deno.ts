import { tableFindings } from "./table-findings.ts";

/** Run by Deno, whose answer a test compares with Bun's. */
console.log(await tableFindings());
