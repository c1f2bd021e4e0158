/** Tries to take a lock, says in one line of JSON how that went, and holds it until the process ends. */
import { acquireSqliteLock } from "../../../src/runtime/sqlite-lock.ts";

const [path = "", command = ""] = process.argv.slice(2);
const attempt = await acquireSqliteLock(path, { pid: process.pid, command, sinceMs: Date.now() });
console.log(JSON.stringify(attempt.ok ? { ok: true, pid: process.pid } : attempt));
if (attempt.ok) process.stdin.resume();
