import { bunForServer } from "../run/profiling.ts";
import { type Interference, type InterferenceOptions, measureInterference } from "./interference.ts";

/** Measures in a separate process, since compilation differs between processes. */
export async function launch(options: InterferenceOptions): Promise<Interference> {
  const argv = [...bunForServer(), import.meta.path, JSON.stringify(options)];
  const child = Bun.spawn(argv, { stdout: "pipe", stderr: "inherit" });
  const said = await new Response(child.stdout).text();
  const code = await child.exited;
  if (code !== 0) throw new Error(`a launch ended with code ${code}`);
  return JSON.parse(said) as Interference;
}

if (import.meta.main) console.log(JSON.stringify(await measureInterference(JSON.parse(process.argv[2]!))));
