import { liveLives } from "./lives.ts";

/**
 * Lives this nominal number of lives on the runtime that this runs on, and prints what they had. A second argument is
 * the path of a life that failed: only that is lived. `--nodes=3` lives those of a cluster.
 */
const [lives, path] = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const nodes = process.argv.find((argument) => argument.startsWith("--nodes="))?.split("=")[1];
const totals = await liveLives(Number(lives), {
  ...(path === undefined ? {} : { path }),
  nodes: Number(nodes ?? 1),
});
console.log(JSON.stringify(totals));
process.exit(); // Threads that make exports go on.
