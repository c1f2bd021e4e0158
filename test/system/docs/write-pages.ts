import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withEndpointTable } from "./endpoint-table.ts";
import { withErrorTable } from "./error-table.ts";

/** Writes the tables of docs/asking.md anew, after an endpoint or an error code was added or changed. */
const page = join(import.meta.dir, "../../../docs/asking.md");
writeFileSync(page, withErrorTable(withEndpointTable(readFileSync(page, "utf8"))));
