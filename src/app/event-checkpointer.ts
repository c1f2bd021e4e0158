import { openHelperPort } from "../runtime/helper/spawn-helper.ts";
import { openNodeSqlite } from "../runtime/node-sqlite.ts";

/** The helper process that moves transactions of the database of events, whose path it is sent, into the database. */
const port = openHelperPort(5);
port.onMessage((path) => {
  const database = openNodeSqlite(String(path));
  database.run("PRAGMA wal_checkpoint(PASSIVE)");
  database.close();
  port.send("done");
});
