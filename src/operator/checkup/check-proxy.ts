import type { Ask } from "../remote/ask-server.ts";
import type { Problem } from "./problem.ts";

/*
 * What stands before a server must pass on what phones send as it is. A redirect turns a report into an empty request
 * on most phones; what they understand of the answer then may cost the report.
 */

/** A path that phones report to. Without a key it is refused, and nothing is stored. */
const PHONE_PATH = "/ingest/owntracks";
const TIMEOUT_MS = 5000;

/** Asks the address that phones are given, and the one with `http` of the same host; no key goes along. */
export async function checkProxy(url: string, ask: Ask): Promise<readonly Problem[]> {
  const problems = problemsOf(await post(`${url}${PHONE_PATH}`, ask));
  const plain = plainVariantOf(url);
  if (plain === null) return problems;
  return [...problems, ...plainProblemsOf(await post(`${plain}${PHONE_PATH}`, ask))];
}

/** The same address without TLS, on its usual port; null where it has none. */
function plainVariantOf(url: string): string | null {
  const { protocol, hostname, pathname } = new URL(url);
  return protocol === "https:" ? `http://${hostname}${pathname.replace(/\/$/, "")}` : null;
}

/** How a phone without a key is answered; null where nobody answers. */
async function post(address: string, ask: Ask): Promise<number | null> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { status, body } = await ask(address, { method: "POST", redirect: "manual", signal });
    await body?.cancel();
    return status;
  } catch {
    return null; // Who asks for findings at the same address is told why.
  }
}

function problemsOf(status: number | null): readonly Problem[] {
  if (status === null || status === 401 || status === 503) return [];
  if (isRedirect(status)) {
    return [
      {
        what: `What phones send is redirected (${status}), and most of them lose it on the way.`,
        advice:
          "Let the proxy pass /ingest/ and /pub on without a redirect, also without or with a slash at the end.",
      },
    ];
  }
  return [
    {
      what: `What phones send does not reach the server: ${PHONE_PATH} answered ${status} where a key is asked for.`,
      advice: "Let the proxy pass /ingest/ and /pub on to Wherehouse, with every method.",
    },
  ];
}

/** That nobody answers there is well: phones are told so, and keep what they have. */
function plainProblemsOf(status: number | null): readonly Problem[] {
  if (status === null || !isRedirect(status)) return [];
  return [
    {
      what: `http is redirected to https (${status}): a phone that was given http:// loses what it sends.`,
      advice:
        "Let /ingest/ and /pub answer on http too, or close http: a phone then keeps what it can't send.",
    },
  ];
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}
