import { isObject } from "../../lib/is-object.ts";
import type { Ask } from "../remote/ask-server.ts";
import type { Problem } from "./problem.ts";

const TIMEOUT_MS = 5000;

/** What is wrong with a server's own data, as `/ready` tells everybody. Nothing where it does not answer. */
export async function checkReady(url: string, ask: Ask): Promise<readonly Problem[]> {
  const told = await askReady(url, ask);
  return [...damageProblems(told), ...sealProblems(told)];
}

function damageProblems({ damaged }: Told): readonly Problem[] {
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

function sealProblems({ seal }: Told): readonly Problem[] {
  if (!isObject(seal) || seal.late !== true) return [];
  const since = typeof seal.last === "string" ? seal.last : "it started";
  return [
    {
      what: `The server has archived nothing since ${since}, for more than three times as long as it should take.`,
      advice:
        "Its log says why, as seal_failed or archive. Nothing is lost; but old records stay in memory, and once there " +
        "are four million, reports of days more than a week past are refused.",
    },
  ];
}

type Told = Readonly<Record<string, unknown>>;

/** A server that is not ready says less. */
async function askReady(url: string, ask: Ask): Promise<Told> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const body: unknown = await (await ask(`${url}/ready`, { redirect: "error", signal })).json();
    return isObject(body) ? body : {};
  } catch {
    return {}; // Who asks for findings at the same address is told why.
  }
}
