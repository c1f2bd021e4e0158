import { readdirSync, readFileSync } from "node:fs";

/** Names of this process's threads that let all others run first; on Linux alone, and on Deno with all permissions. */
export function nicestThreads(): string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc/self/task").flatMap((id) => {
    const [, name, rest] = /\((.*)\) (.*)/.exec(readFileSync(`/proc/self/task/${id}/stat`, "utf8"))!;
    if (rest!.split(" ")[16] !== "19") return [];
    return [id === String(process.pid) ? "main" : name!];
  });
}
