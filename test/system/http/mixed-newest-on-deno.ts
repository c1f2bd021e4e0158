/** The comparison of `record-texts.test.ts` on Deno. */
import { checkMixes } from "../../unit/http/encode/mixed-newest.ts";

checkMixes(Number(process.argv[2]));
