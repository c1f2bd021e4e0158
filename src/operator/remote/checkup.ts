import { isObject } from "../../lib/is-object.ts";
import { printableLine } from "../../lib/text/printable.ts";
import type { RemoteMqtt, RemoteStored, RemoteWebhook } from "./ask-findings.ts";
import { type Ask, fetchAnswer } from "./ask-server.ts";

/*
 * Checks from outside: what is wrong with a server itself and with the ways to it.
 */

/** A fault that costs reports on the way from phones to the server, and its remedy. */
export interface Problem {
  readonly what: string;
  readonly advice: string;
}

const TIMEOUT_MS = 5000;

/** Problems of a server's data that `/ready` reports publicly. Empty if the server does not answer. */
export async function checkReady(url: string, ask: Ask): Promise<readonly Problem[]> {
  const ready = await askReady(url, ask);
  return [...damageProblems(ready), ...sealProblems(ready)];
}

function damageProblems({ damaged }: ReadyAnswer): readonly Problem[] {
  if (typeof damaged !== "number" || damaged === 0) return [];
  return [
    {
      what: `Damaged data was set aside, and no operator has acknowledged it: ${damaged} in all.`,
      advice:
        "verify --data-dir DIR names the files. What they held is in no answer; once you have seen them, " +
        "verify --acknowledge --data-dir DIR ends this message.",
    },
  ];
}

function sealProblems({ seal }: ReadyAnswer): readonly Problem[] {
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

type ReadyAnswer = Readonly<Record<string, unknown>>;

/** The answer of `/ready`; shorter if the server is not ready, empty if there is none, which other checks report. */
async function askReady(url: string, ask: Ask): Promise<ReadyAnswer> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const answer = await fetchAnswer({ url, key: null }, "/ready", ask, { signal });
  return answer.ok && isObject(answer.value.body) ? answer.value.body : {};
}

/*
 * A proxy must pass on requests of phones unchanged. Most phones follow a redirect with an empty request, and may take
 * its answer for an acknowledgement and delete the report.
 */

/** A path that phones report to. A request without a key is refused, and nothing is stored. */
const PHONE_PATH = "/ingest/owntracks";

/** Sends requests without a key to the address that phones use, and to the same host without TLS. */
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

/** The status of a request without a key; null if there is no answer. */
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

/** No answer without TLS is fine: phones then retain their reports. */
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

/** Problems of the way through an MQTT broker, as measured by the server. */
export function checkMqtt(mqtt: RemoteMqtt): readonly Problem[] {
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
      what: `Phones published ${unassured_messages} messages with QoS 0, which a broker does not store.`,
      advice: "Set QoS 1 in the apps: otherwise reports sent while the server is away are lost.",
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

/** Webhooks that are not sent what happens. */
export function checkWebhooks(webhooks: readonly RemoteWebhook[]): readonly Problem[] {
  return webhooks.map(({ id, host, state, reason, failures = 0 }) => {
    const name = `Webhook ${printableLine(id)} to ${printableLine(host)}`;
    if (state === "active")
      return {
        what: `${name} failed ${failures} times in a row: its events wait.`,
        advice: "See that its receiver runs; webhooks test shows what it answers.",
      };
    return {
      what: `${name} is ${printableLine(state)}: ${printableLine(reason ?? "-")}.`,
      advice:
        "Repair its receiver, then resume the webhook; within 30 days a paused one goes on where it was.",
    };
  });
}

/** The share of a bound from which on it is a problem. */
const NEAR_SHARE = 0.8;

/** Bounds that an app is near, beyond which corrections and profiles are refused. */
export function checkStored(stored: RemoteStored): readonly Problem[] {
  const bounds = [
    {
      used: stored.corrections,
      max: stored.corrections_max,
      what: "active corrections",
      advice: UNDO_SOME,
    },
    {
      used: stored.corrected_records,
      max: stored.corrected_records_max,
      what: "records that corrections touch",
      advice: UNDO_SOME,
    },
    {
      used: stored.profile_bytes,
      max: stored.profile_bytes_max,
      what: "bytes of device profiles",
      advice:
        "Beyond that profiles are refused. Shorten metadata, or delete profiles of devices that are gone.",
    },
  ];
  return bounds
    .filter(({ used, max }) => used >= NEAR_SHARE * max)
    .map(({ used, max, what, advice }) => ({
      what: `The app has ${used.toLocaleString("en")} ${what}, and may have ${max.toLocaleString("en")}.`,
      advice,
    }));
}

const UNDO_SOME =
  "Beyond that corrections are refused. corrections list --state active names them; undo those that are not needed.";
