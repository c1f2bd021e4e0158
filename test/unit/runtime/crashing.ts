import { exitOnCrash } from "../../../src/runtime/process.ts";
import { turns } from "../../support/turns.ts";

/** Crashes by an error in a later turn, or in an unhandled promise; prints what is reported. */
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
