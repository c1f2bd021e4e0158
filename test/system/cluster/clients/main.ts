import { writeSync } from "node:fs";
import { seededRandom } from "../../../support/seeded-random.ts";
import { pause } from "../../support/pause.ts";
import { createPicker } from "../../support/random.ts";
import { REPORT_MS, UNIT_MS, UNIT_REPORTS } from "../check/history.ts";
import type { ClientLine, ClientPlan } from "./plan.ts";

/*
 * Clients that report and ask until SIGTERM, in a process of their own that can be killed. Each asks about what was
 * just acknowledged, with the entry of the log that the answer must know; what fails is tried at another node once.
 * Every request is written down before it is sent.
 */

/** A server gives up an entry of its log after 15 s; a stopped one says nothing for as long. */
const REPORT_MS_MAX = 8000;
/** An answer may wait for its entry for 5 s. */
const QUESTION_MS_MAX = 6500;
/** So that a page has all of a device. */
const DEVICE_UNITS_MAX = 100;
const SHARED_UNITS = 3;
/** Under way at once. */
const QUESTIONS_MAX = 20;

const plan = JSON.parse(process.argv[2] ?? "") as ClientPlan;
let isOver = false;
let lastId = 0;
const questions = new Set<Promise<void>>();
let lastValue = plan.number * 1_000_000;

process.on("SIGTERM", () => {
  isOver = true;
});
void Bun.stdin.text().then(() => process.exit(1)); // Who started it is gone.
await Promise.all(Array.from({ length: plan.clients }, (_, index) => report(index)));
await Promise.all(questions);
process.exit(0); // Connections that are kept open would hold it.

async function report(index: number): Promise<void> {
  const pick = createPicker(seededRandom(plan.seed * 100 + index));
  const { name, shared } = plan;
  const home = index % plan.urls.length; // So that those of the others go on where one does not answer.
  let [device, unit, value] = [`${name}-${index}-0`, -1, 0];
  for (let count = 0; !isOver; count++) {
    const what = pick.item(["new", "new", "new", "again", "shared", "shared"] as const);
    if (what === "again" && unit >= 0) {
      await put(home, { device, unit, value }, pick);
    } else if (what === "shared") {
      const again = pick.maybe(0.3, () => lastValue) ?? nextValue();
      await put(home, { device: shared, unit: pick.integer(0, SHARED_UNITS - 1), value: again }, pick);
    } else {
      unit++;
      if (unit === DEVICE_UNITS_MAX) [device, unit] = [`${name}-${index}-${count}`, 0];
      value = nextValue();
      await put(home, { device, unit, value }, pick);
    }
    await pause(pick.integer(0, plan.pauseMsMax));
  }
}

function nextValue(): number {
  return ++lastValue;
}

type Picker = ReturnType<typeof createPicker>;

interface Batch {
  readonly device: string;
  readonly unit: number;
  readonly value: number;
}

/** Sends a batch to the client's own node or another one, asks about it where it was taken, and goes on meanwhile. */
async function put(home: number, batch: Batch, pick: Picker): Promise<void> {
  let node = home;
  let sequence = await send(batch, node);
  if (sequence === null) {
    node = elsewhere(home, pick);
    sequence = await send(batch, node);
  }
  if (sequence === null || questions.size >= QUESTIONS_MAX || !pick.maybe(0.4, () => true)) return;
  const question = inquire(batch.device, sequence, node, pick);
  questions.add(question);
  void question.finally(() => questions.delete(question));
}

async function inquire(device: string, sequence: number, takenBy: number, pick: Picker): Promise<void> {
  const asked = pick.integer(0, plan.urls.length - 1);
  if (await ask(device, sequence, asked, false)) return;
  // The node that took the report has it, unless it is the one that did not answer.
  await ask(device, sequence, asked === takenBy ? elsewhere(asked, pick) : takenBy, true);
}

function elsewhere(node: number, pick: Picker): number {
  return (node + pick.integer(1, plan.urls.length - 1)) % plan.urls.length;
}

/** The sequence of its entry; null where nobody knows what became of it. */
async function send({ device, unit, value }: Batch, node: number): Promise<number | null> {
  const id = ++lastId;
  const locations = Array.from({ length: UNIT_REPORTS }, (_, index) => ({
    device_id: device,
    timestamp: plan.firstMs + unit * UNIT_MS + index * REPORT_MS,
    latitude: 55.6,
    longitude: 12.5,
    altitude: value,
  }));
  write({ is: "put", id, startMs: nowMs(), node, device, unit, value });
  const asked = {
    method: "POST",
    headers: { authorization: `Bearer ${plan.key}`, "content-type": "application/json" },
    body: JSON.stringify({ locations }),
    signal: AbortSignal.timeout(REPORT_MS_MAX),
  };
  return end(id, async () => {
    const response = await fetch(`${plan.urls[node]}/ingest/v1/locations`, asked);
    const answer = (await response.json()) as Record<"accepted" | "duplicates" | "sequence", number>;
    if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(answer)}`);
    const { accepted, duplicates, sequence } = answer;
    return { accepted, duplicates, sequence, rows: [] };
  });
}

async function ask(device: string, minSequence: number, node: number, isRetry: boolean): Promise<boolean> {
  const id = ++lastId;
  const date = new Date(plan.firstMs).toISOString().slice(0, 10);
  const path = `/api/v1/devices/${device}/locations/history?start_date=${date}&end_date=${date}&limit=1000`;
  write({ is: "read", id, startMs: nowMs(), node, device, minSequence, isRetry });
  const asked = {
    headers: { authorization: `Bearer ${plan.key}`, "wherehouse-min-sequence": String(minSequence) },
    signal: AbortSignal.timeout(QUESTION_MS_MAX),
  };
  const sequence = await end(id, async () => {
    const response = await fetch(`${plan.urls[node]}${path}`, asked);
    const answer = (await response.json()) as { locations: { timestamp: number; altitude: number }[] };
    if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(answer)}`);
    const rows = answer.locations.flatMap(({ timestamp, altitude }) => [timestamp, altitude]);
    const known = Number(response.headers.get("wherehouse-sequence") ?? Number.NaN);
    return { accepted: 0, duplicates: 0, sequence: known, rows };
  });
  return sequence !== null;
}

interface Told {
  readonly accepted: number;
  readonly duplicates: number;
  readonly sequence: number;
  readonly rows: readonly number[];
}

async function end(id: number, request: () => Promise<Told>): Promise<number | null> {
  try {
    const told = await request();
    write({ is: "end", id, endMs: nowMs(), outcome: "ok", failure: null, ...told });
    return told.sequence;
  } catch (error) {
    const nothing = { accepted: 0, duplicates: 0, sequence: 0, rows: [] };
    write({ is: "end", id, endMs: nowMs(), outcome: "unknown", failure: String(error), ...nothing });
    return null;
  }
}

/** At once, so that what was sent is known whatever happens next. */
function write(line: ClientLine): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

/** Of the whole machine; goes only forward within a process. */
function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
