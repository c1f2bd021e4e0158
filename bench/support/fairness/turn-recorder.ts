/**
 * Loaded into a server before its own code: appends a line to the file that it is told for each turn of the event loop
 * that takes much processor time, with the turn's end in Unix ms and that time. A clock can't tell a server that
 * works from one that waits for a core: on a machine that others use, even an idle process is held up for 400 ms.
 */
import { appendFileSync } from "node:fs";
import process from "node:process";
import { TURNS_FILE } from "./long-turns.ts";

const LOOK_MS = 5;
/** Shorter ones are not worth a line. */
const TURN_MS_MIN = 10;

const path = process.env[TURNS_FILE];
// A process that the server begins is told nothing: its turns are nobody's wait.
if (path !== undefined) record(path);

function record(path: string): void {
  let usedMs = threadMs();
  setInterval(() => {
    const nowMs = threadMs();
    const turnMs = nowMs - usedMs;
    if (turnMs >= TURN_MS_MIN) appendFileSync(path, `${Date.now()} ${turnMs.toFixed(1)}\n`);
    usedMs = nowMs;
  }, LOOK_MS).unref();
}

/** Of the thread that runs the JavaScript; Deno 2.9.6 counts it in steps of 10 ms. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
