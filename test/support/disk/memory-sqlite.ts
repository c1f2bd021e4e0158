import { openNodeSqlite } from "../../../src/runtime/node-sqlite.ts";
import type { CopySqlite, OpenSqlite } from "../../../src/runtime/sqlite.ts";

/** Opens an empty database in memory beside a simulated disk, as if the file was lost at each start. */
export const openMemorySqlite: OpenSqlite = () => openNodeSqlite(null);

/** A simulated disk has no database that a backup could copy. */
export const copyNoSqlite: CopySqlite = () => Promise.reject(new Error("there is no database"));
