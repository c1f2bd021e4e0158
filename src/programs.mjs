/*
 * Runs programs as if they had been started in place of this one. Plain JavaScript without packages, for launch.mjs and
 * for the command of the npm package.
 */
import { spawn } from "node:child_process";
import { constants } from "node:os";

/** An error with a message for the user, shown without a stack trace. */
export class LaunchError extends Error {}

/** Runs a program with this terminal and this process's signals, and ends as it ends. */
export async function run([program, ...args], options) {
  const { code, signal } = await ended(program, () => spawn(program, args, { ...options, stdio: "inherit" }));
  if (signal === null) return code;
  process.removeAllListeners(signal);
  process.kill(process.pid, signal); // No handler is left, so the signal ends this process too.
  return 128 + constants.signals[signal]; // If the signal doesn't end it.
}

/** Starts a child and waits for its end. Until then it passes each signal on to the child. */
export function ended(program, start) {
  let child = null;
  // A terminal signals the whole process group, and npm passes signals on too. Each is passed on once, since a child
  // that is about to exit has no handlers left, and a second signal would kill it.
  const passedOn = new Set();
  const forward = (signal) => {
    if (!passedOn.has(signal)) child.kill(signal);
    passedOn.add(signal);
  };
  const handlers = { SIGTERM: forward, SIGHUP: forward, SIGINT: forward };
  // Installed before the child starts: a signal in between would end the launcher and leave the child alone.
  for (const [signal, handler] of Object.entries(handlers)) process.on(signal, handler);
  child = start();
  return new Promise((resolve, reject) => {
    child.once("error", (cause) => reject(new LaunchError(`Cannot run ${program}: ${cause.message}`)));
    child.once("close", (code, signal) => {
      for (const [name, handler] of Object.entries(handlers)) process.off(name, handler);
      for (const name of passedOn) process.on(name, () => {}); // The child has handled it: ignore repetitions.
      resolve({ code, signal });
    });
  });
}
