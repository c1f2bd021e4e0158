import { liveLives } from "./lives.ts";

/**
 * Lives this nominal number of lives on the runtime that this runs on, and prints what they had. A second argument is
 * the path of a life that failed: only that is lived.
 */
const [, , lives, path] = process.argv;
const totals = await liveLives(Number(lives), path);
console.log(JSON.stringify(totals));
process.exit(); // Threads that make exports go on.
