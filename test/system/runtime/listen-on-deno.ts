/** A server on Deno for `listen.test.ts`: says its URL, and takes lines on stdin, `release` and `stop`. */
import { listenOnDeno } from "../../../src/runtime/deno-listen.ts";
import { createAnswers } from "./listen-answer.ts";

const [port = "0", graceMs = "0", hostname = "127.0.0.1"] = process.argv.slice(2);
const { answer, release } = createAnswers();
try {
  const listener = await listenOnDeno({ hostname, port: Number(port), fetch: answer });
  console.log(listener.url);
  process.stdin.on("data", async (line) => {
    if (line.toString().includes("release")) release();
    if (!line.toString().includes("stop")) return;
    await listener.stop(Number(graceMs));
    console.log("stopped");
    process.exit(0);
  });
} catch (error) {
  console.log(String(error));
}
