import { openHelperPort } from "../runtime/helper/spawn-helper.ts";
import { copyNodeSqlite } from "../runtime/node-sqlite.ts";

/** The helper process that copies the database of events: it is sent the paths of both, and then answers. */
const port = openHelperPort(5);
port.onMessage(async (paths) => {
  const [from, to] = paths as readonly [string, string];
  await copyNodeSqlite(from, to);
  port.send("done");
});
