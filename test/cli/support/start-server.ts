import { startCli } from "./run-cli.ts";

/** A running server and the address it prints. */
export async function startServer(dataDir: string) {
  const child = startCli(["serve", "--port", "0", "--data-dir", dataDir]);
  const reader = child.stdout.getReader();
  let said = "";
  while (!/http:\/\/\S+:\d+/.test(said)) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`The server said: ${said}${await new Response(child.stderr).text()}`);
    said += new TextDecoder().decode(value);
  }
  const url = /http:\/\/[^\s/]+:\d+/.exec(said)![0];
  while (!(await fetch(`${url}/ready`)).ok) await Bun.sleep(10);
  return { child, url };
}
