import type { Environment } from "./flag-row.ts";

/** For those who have no Bun of their own. */
export const NPM_PROGRAM = "npm run --silent cli --";

/**
 * How a person starts this program, so that what we say can be typed. npm says to what it runs that it does.
 */
export function programOf({ npm_package_name: name, npm_lifecycle_event: script }: Environment): string {
  const isOurs = name === "wherehouse" && (script === "cli" || script === "start" || script === "demo");
  return isOurs ? NPM_PROGRAM : "bun src/main.ts";
}
