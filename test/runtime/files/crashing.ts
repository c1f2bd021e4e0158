import { exitOnCrash } from "../../../src/runtime/process.ts";

/** Ends by a bug, thrown from a timer or from a promise that nobody waits for; says what it is told of it. */
exitOnCrash((error) => console.log(`told: ${String(error)}`));
if (process.argv[2] === "throw") {
  setTimeout(() => {
    throw new Error("a bug");
  });
} else {
  void Promise.reject(new Error("a bug"));
}
setTimeout(() => console.log("went on"), 1000);
