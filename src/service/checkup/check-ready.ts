import { isObject } from "../../lib/is-object.ts";
import type { Ask } from "../ask-server.ts";
import type { Problem } from "./problem.ts";

const TIMEOUT_MS = 5000;

/** What is wrong with a server's own data, as `/ready` tells everybody. Nothing where it does not answer. */
export async function checkReady(url: string, ask: Ask): Promise<readonly Problem[]> {
  const told = await askReady(url, ask);
  const { damaged } = told;
  if (typeof damaged !== "number" || damaged === 0) return [];
  return [
    {
      what: `Damaged data is set aside, and nobody has taken note of it: ${damaged} in all.`,
      advice:
        "verify --data-dir DIR names the files. What they held is in no answer; once you have seen them, " +
        "verify --acknowledge --data-dir DIR ends this message.",
    },
  ];
}

/** A server that is not ready says less. */
async function askReady(url: string, ask: Ask): Promise<Readonly<Record<string, unknown>>> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const body: unknown = await (await ask(`${url}/ready`, { redirect: "error", signal })).json();
    return isObject(body) ? body : {};
  } catch {
    return {}; // Who asks for findings at the same address is told why.
  }
}
