import { spawnSync } from "node:child_process";
import { chownSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Place, Runtime } from "../../support/server-process.ts";

/** Processes of users who are not this one, which takes root and `setpriv`. */

/** Users that own nothing else: the kernel needs no name for them. */
export const OWNER_UID = 54_321;
export const STRANGER_UID = 54_322;

const MAIN = join(import.meta.dir, "../../../src/main.ts");

/** Whether processes of other users can be had, and can read the project. */
export function canBeOthers(): boolean {
  const [program, ...args] = ["setpriv", ...identity(OWNER_UID), "test", "-r", MAIN];
  return process.getuid?.() === 0 && spawnSync(program!, args, { stdio: "ignore" }).status === 0;
}

function identity(uid: number): string[] {
  return [`--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"];
}

/** The runtime as a user of its own starts it. */
export function asUser(uid: number, runtime: Runtime): Runtime {
  return prefixed(identity(uid), runtime);
}

/** Root of a container that was left without the right to give files away. */
export function asRootWithoutChown(runtime: Runtime): Runtime {
  return prefixed(["--bounding-set=-chown", "--inh-caps=-chown"], runtime);
}

function prefixed(flags: readonly string[], { name, command }: Runtime): Runtime {
  const before = (directory: string) => ["env", `HOME=${directory}`, "setpriv", ...flags];
  return { name, command: (permissions) => [...before(permissions.directory), ...command(permissions)] };
}

export function giveTo(uid: number, place: Place): void {
  chownSync(place.directory, uid, uid);
}

/** Everything below a directory with its owner and mode, as one text an entry. */
export function ownersBelow(directory: string): string[] {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" }).sort();
  return names.map((name) => {
    const { uid, gid, mode } = lstatSync(join(directory, name));
    return `${uid}:${gid} ${(mode & 0o777).toString(8)} ${name}`;
  });
}
