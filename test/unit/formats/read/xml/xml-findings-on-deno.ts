import { xmlFindings } from "./xml-findings.ts";

/** Run by Deno, whose answer a test compares with Bun's. */
console.log(await xmlFindings());
