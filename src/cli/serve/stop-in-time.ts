import type { App } from "../../app/app.ts";
import { statementsUnderWay } from "../../archive/duckdb/running-statements.ts";
import { atMost, type Timers } from "../../lib/schedule/timers.ts";

/** Of the 5 s that a stop may take: the process needs some of it to start this and to end. */
const STOP_MS_MAX = 4500;
/** Enough to tell one statement from another. */
const STATEMENT_CHARS_MAX = 300;

/**
 * Closes the app. What does not end in time, such as a call of DuckDB that can't be interrupted, is told and left to
 * the end of the process: all that was acknowledged is on the disk.
 */
export async function stopInTime(
  app: Pick<App, "close">,
  log: { warn(members: object, line: string): void },
  timers: Timers,
  underWay: () => readonly string[] = statementsUnderWay,
): Promise<void> {
  let isClosed = false;
  const closing = app.close().then(() => {
    isClosed = true;
  });
  await atMost(timers, STOP_MS_MAX, closing);
  if (isClosed) return;
  closing.catch(() => undefined); // The process ends, and nobody waits for it any more.
  const statements = underWay().map((sql) => sql.slice(0, STATEMENT_CHARS_MAX));
  const left = statements.length === 0 ? "" : `; the archive still runs: ${statements.join("; ")}`;
  log.warn({ event: "stop_cut_short", statements }, `Not everything ended in time${left}`);
}
