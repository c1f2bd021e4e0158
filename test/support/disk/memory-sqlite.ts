import { openNodeSqlite } from "../../../src/runtime/node-sqlite.ts";
import type { OpenSqlite } from "../../../src/runtime/sqlite.ts";

/** Opens an empty database in memory beside a simulated disk, as if the file was lost at each start. */
export const openMemorySqlite: OpenSqlite = () => openNodeSqlite(null);
