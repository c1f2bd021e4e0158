/**
 * Preloaded into a server: appends a line to a file for each long turn of the event loop, with the turn's end in Unix
 * ms and its processor time. Wall-clock time can't tell a working server from one that waits for a core: on a shared
 * machine even an idle process is delayed by 400 ms.
 */
import { appendFileSync } from "node:fs";
import process from "node:process";
import { TURNS_FILE } from "./long-turns.ts";

const LOOK_MS = 5;
/** Shorter turns are not recorded. */
const TURN_MS_MIN = 10;

const path = process.env[TURNS_FILE];
// Child processes of the server are not recorded: their turns delay no request.
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

/** Processor time of the JavaScript thread; Deno 2.9.6 counts it in steps of 10 ms. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
