import { isObject } from "../../lib/is-object.ts";
import { printableLine } from "../../lib/text/printable.ts";
import type { ToldMqtt } from "./ask-findings.ts";
import { type Ask, fetchAnswer } from "./ask-server.ts";

/*
 * What is wrong with a server itself and with the ways to it, as a person finds out from outside.
 */

/** Something on the way from phones to the server that costs reports, and what helps. */
export interface Problem {
  readonly what: string;
  readonly advice: string;
}

const TIMEOUT_MS = 5000;

/** What is wrong with a server's own data, as `/ready` tells everybody. Nothing if it does not answer. */
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

/** What `/ready` says; a server that is not ready says less. A person reads elsewhere why it does not answer. */
async function askReady(url: string, ask: Ask): Promise<Told> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const answer = await fetchAnswer({ url, key: null }, "/ready", ask, { signal });
  return answer.ok && isObject(answer.value.body) ? answer.value.body : {};
}

/*
 * What stands before a server must pass on what phones send as it is. A redirect turns a report into an empty request
 * on most phones; what they understand of the answer then may cost the report.
 */

/** A path that phones report to. Without a key it is refused, and nothing is stored. */
const PHONE_PATH = "/ingest/owntracks";

/** Asks the address that phones are given, and the one with `http` of the same host; no key goes along. */
export async function checkProxy(url: string, ask: Ask): Promise<readonly Problem[]> {
  const problems = problemsOf(await post(`${url}${PHONE_PATH}`, ask));
  const plain = plainVariantOf(url);
  if (plain === null) return problems;
  return [...problems, ...plainProblemsOf(await post(`${plain}${PHONE_PATH}`, ask))];
}

/** The address without TLS, on its usual port; null if it has none. */
function plainVariantOf(url: string): string | null {
  const { protocol, hostname, pathname } = new URL(url);
  return protocol === "https:" ? `http://${hostname}${pathname.replace(/\/$/, "")}` : null;
}

/** How a phone without a key is answered; null if there is no answer. */
async function post(address: string, ask: Ask): Promise<number | null> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { status, body } = await ask(address, { method: "POST", redirect: "manual", signal });
    await body?.cancel();
    return status;
  } catch {
    return null; // The request for findings at the same address says why.
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

/** No answer there is well: phones then keep what they have. */
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

/** What is wrong with the way through an MQTT broker, as the server tells of it. */
export function checkMqtt(mqtt: ToldMqtt): readonly Problem[] {
  const { connections, connected, unassured_messages } = mqtt;
  const { unheard_messages = 0, unheard_topics = [] } = mqtt;
  const problems: Problem[] = [];
  if (connected < connections) {
    problems.push({
      what: `${connected} of ${connections} connections to the MQTT broker are up: the rest of what phones publish waits there.`,
      advice:
        "See that the broker runs and knows the user and the password; the server's log says what it hears.",
    });
  }
  if (unassured_messages > 0) {
    problems.push({
      what: `Phones published with QoS 0, which the broker keeps for nobody: ${unassured_messages} of what came.`,
      advice: "Set QoS 1 in the apps: else what they send while the server is away is lost.",
    });
  }
  if (unheard_messages > 0) {
    problems.push({
      what: `${unheard_messages} positions were published to topics that --mqtt-topic does not take, and are not stored: ${unheard_topics.map(printableLine).join(", ")}.`,
      advice:
        "Have the app publish to owntracks/USER/DEVICE, or add the topics to --mqtt-topic if they name a user and a device.",
    });
  }
  return problems;
}
