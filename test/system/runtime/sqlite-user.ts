/** Stores events until it is killed, and says the position of each transaction once that is committed. */
import { openNodeSqlite } from "../../../src/runtime/node-sqlite.ts";
import { EventStore } from "../../../src/service/watching/event-store.ts";
import { revisionAt } from "../../support/geofences/test-events.ts";

const SYNC_EVERY = 256;

const [path = ""] = process.argv.slice(2);
const events = EventStore.open(openNodeSqlite(path), path);
if (events.lastSeq() === 0) events.begin(0);
for (let position = events.position() + 1; ; position++) {
  events.transact(() => {
    for (const mark of ["1", "2", "3"]) events.put(revisionAt(position, mark));
    events.setPosition(position);
  });
  if (position % SYNC_EVERY === 0) await events.sync();
  console.log(position);
}
