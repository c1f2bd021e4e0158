import { exitOnCrash } from "../../../src/runtime/process.ts";
import { turns } from "../../support/turns.ts";

/** Ends by a bug, thrown in a later turn of the loop or from a promise without a reader; says what it is told of it. */
exitOnCrash((error) => console.log(`told: ${String(error)}`));
if (process.argv[2] === "throw") {
  setImmediate(() => {
    throw new Error("a bug");
  });
} else {
  void Promise.reject(new Error("a bug"));
}
await turns(1000);
console.log("went on");
