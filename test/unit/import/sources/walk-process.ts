/** Walks through sources in a process of its own, for `walks.ts`: what to walk and what was found are JSON. */
import { describeWalk } from "./described-walk.ts";

console.log(JSON.stringify(await describeWalk(JSON.parse(process.argv[2] ?? ""))));
