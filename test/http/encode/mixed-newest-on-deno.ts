/** The comparison of `record-texts.test.ts` on Deno. */
import { checkMixes } from "./mixed-newest.ts";

checkMixes(Number(process.argv[2]));
