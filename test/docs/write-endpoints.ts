import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withEndpointTable } from "./endpoint-table.ts";

/** Writes the table of docs/asking.md anew, for whoever has added or changed an endpoint. */
const page = join(import.meta.dir, "../../docs/asking.md");
writeFileSync(page, withEndpointTable(readFileSync(page, "utf8")));
