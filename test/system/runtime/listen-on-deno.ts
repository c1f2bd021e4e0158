/** A server on Deno with one slow answer, for `listen.test.ts`: says its port, stops with a line on stdin. */
import { listenOnDeno } from "../../../src/runtime/listeners/deno-listen.ts";
import { answer } from "./listen-answer.ts";

const [port = "0", graceMs = "0", hostname = "127.0.0.1"] = process.argv.slice(2);
try {
  const listener = await listenOnDeno({ hostname, port: Number(port), fetch: answer });
  console.log(listener.url);
  process.stdin.once("data", async () => {
    await listener.stop(Number(graceMs));
    console.log("stopped");
    process.exit(0);
  });
} catch (error) {
  console.log(String(error));
}
