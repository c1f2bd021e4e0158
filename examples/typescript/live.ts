/**
 * Says where devices are as they move, and misses nothing: a lost connection goes on where it was, and where that is
 * not possible any more a snapshot is taken.
 *
 *   WHEREHOUSE_KEY=wh_... npm run --silent example-live
 */
interface Columns {
  readonly device_id: readonly string[];
  readonly latitude: readonly number[];
  readonly longitude: readonly number[];
}

const { WHEREHOUSE_URL = "http://127.0.0.1:3000", WHEREHOUSE_KEY } = process.env;
const SILENCE_MS_MAX = 40_000; // Something comes every 15 s: a connection that is silent for longer is dead.
const RETRY_MS = 2000;
let lastId: string | undefined;

const show = (id: string, latitude: number, longitude: number) =>
  console.log(`${id} ${latitude}, ${longitude}`);

async function ask(path: string, more: Record<string, string> = {}, signal: AbortSignal | null = null) {
  const headers = { Authorization: `Bearer ${WHEREHOUSE_KEY}`, ...more };
  const response = await fetch(WHEREHOUSE_URL + path, { headers, signal });
  if (response.ok) return response;
  const failure = `${response.status}: ${((await response.json()) as { message: string }).message}`;
  if (response.status === 429 || response.status >= 500) throw new Error(failure); // It may be well in a moment.
  console.error(failure);
  process.exit(1);
}

async function takeSnapshot() {
  const columns = (await (await ask("/api/v1/locations/current/columns")).json()) as Columns;
  columns.device_id.forEach((id, row) => {
    show(id, columns.latitude[row]!, columns.longitude[row]!);
  });
}

async function take(event: string) {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(event)?.[1];
  if (field("event") === "reset") await takeSnapshot();
  else
    for (const { device_id, latitude, longitude } of JSON.parse(field("data") ?? "{}").locations ?? [])
      show(device_id, latitude, longitude);
  lastId = field("id") ?? lastId; // Only now: what was not taken must come again.
}

/** Until the connection ends. */
async function listen() {
  const silence = new AbortController();
  let watchdog = setTimeout(() => silence.abort(), SILENCE_MS_MAX);
  try {
    const from = lastId === undefined ? {} : { "Last-Event-ID": lastId };
    const { body } = await ask("/api/v1/live", from, silence.signal);
    if (lastId === undefined) await takeSnapshot(); // What moves from now on is in the stream.
    let rest = "";
    for await (const text of body!.pipeThrough(new TextDecoderStream())) {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => silence.abort(), SILENCE_MS_MAX);
      const events = (rest + text).split("\n\n");
      rest = events.pop()!; // Not whole yet.
      for (const event of events) await take(event);
    }
  } finally {
    clearTimeout(watchdog);
  }
}

export {};

for (;;) {
  await listen().catch((error) => console.error(String(error)));
  await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
}
