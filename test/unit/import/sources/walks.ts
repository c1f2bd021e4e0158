import { join } from "node:path";
import { nativeDeno } from "../../../support/native-deno.ts";
import type { Described, WalkRequest } from "./described-walk.ts";

type Walk = (request: WalkRequest, input?: Uint8Array) => Promise<Described[]>;

/** Walks in a process of their own, so that each may have a standard input, and may leave nothing behind. */
export const WALKS: Readonly<Record<"Bun" | "Deno", Walk>> = {
  Bun: (request, input) => run([process.execPath], request, input),
  Deno: (request, input) => run([nativeDeno(), "run", "--no-prompt", "--allow-all"], request, input),
};

async function run(
  runtime: readonly string[],
  request: WalkRequest,
  input: Uint8Array = new Uint8Array(0),
): Promise<Described[]> {
  const script = join(import.meta.dir, "walk-process.ts");
  const { uid } = request;
  const user = uid === undefined ? [] : ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"];
  const child = Bun.spawn([...user, ...runtime, script, JSON.stringify(request)], {
    stdin: new Blob([new Uint8Array(input)]),
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
  });
  const [out, error] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(error);
  return JSON.parse(out);
}
