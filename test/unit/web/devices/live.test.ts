import { expect, test } from "bun:test";
import { ApiError } from "../../../../src/web/api/api-error.ts";
import { Retries } from "../../../../src/web/api/retries.ts";
import { DeviceTable } from "../../../../src/web/devices/device-table.ts";
import { LiveDevices, liveWhileSeen } from "../../../../src/web/devices/live.ts";
import * as fc from "../../../support/fast-check.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";
import { turns } from "../../../support/turns.ts";
import { ScriptedServer } from "./scripted-server.ts";

/*
 * The page's reader against a server that does all that a server and a network may do: cut bytes anywhere, break off,
 * fall silent, refuse, forget. In the end the table is what the server has, whatever came in between.
 */

/** More turns of the event loop than a request to the scripted server takes, and more pauses than a test has. */
const TURNS_MAX = 20;
const STEPS_MAX = 200;

function begun(server: ScriptedServer) {
  const time = new VirtualTime();
  const table = new DeviceTable();
  const states: string[] = [];
  const tries: number[] = [];
  const live = new LiveDevices({
    fetch: server.fetch,
    table,
    changed: () => {
      if (states.at(-1) !== live.state) states.push(live.state);
    },
    timers: time,
    retries: new Retries((failures) => {
      tries.push(failures);
      return 1;
    }, time),
  });
  live.begin();
  return { live, table, states, tries, time, until: untilIn(time) };
}

function placesIn(table: DeviceTable): Record<string, readonly [number, number]> {
  return Object.fromEntries(
    table.ids.map((id, row) => [id, [table.timestampMs[row]!, table.latitude[row]!]]),
  );
}

/** Waits for a state: first for work that needs no time, then for the next pause or silence that ends. */
function untilIn(time: VirtualTime) {
  return async (isSo: () => boolean) => {
    for (let steps = 0; steps < STEPS_MAX; steps++) {
      for (let turn = 0; turn < TURNS_MAX; turn++) {
        if (isSo()) return;
        await turns(1);
      }
      time.step();
    }
    throw new Error("the state is not reached");
  };
}

/** What happens to the server, and to the line to it. */
const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant("report" as const), device: fc.nat(8) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("hide" as const), device: fc.nat(8) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("tell" as const), cut: fc.nat(60) }) },
    { weight: 6, arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.nat(3) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("tellHalf" as const), cut: fc.nat(60) }) },
    ...(["beat", "breakOff", "fail", "silence", "forget", "refuse", "sleep", "wake"] as const).map(
      (kind) => ({ weight: 1, arbitrary: fc.record({ kind: fc.constant(kind) }) }),
    ),
  ),
  { maxLength: 40 },
);

test("whatever happens on the way, the table is in the end what the server has", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const server = new ScriptedServer();
      const { live, table, time, until } = begun(server);
      for (const step of all) {
        if (step.kind === "report") server.report(`Zoë 🚌 ${step.device}`);
        else if (step.kind === "hide") server.hide(`Zoë 🚌 ${step.device}`);
        else if (step.kind === "tell") server.tell(step.cut);
        else if (step.kind === "tellHalf") server.tellHalf(step.cut);
        else if (step.kind === "wait") await time.pass(step.ms);
        else if (step.kind === "sleep") live.sleep();
        else if (step.kind === "wake") live.wake();
        else server[step.kind]();
      }
      live.wake();
      server.recover();
      await until(() => {
        server.tell(7);
        return live.state === "live" && Bun.deepEquals(placesIn(table), server.places());
      });
      expect(placesIn(table)).toEqual(server.places());
      live.end();
      expect(placesIn(table)).toEqual({});
      expect(live.state).toBe("stopped");
    }),
    { numRuns: 150 },
  );
});

test("a lost connection goes on behind the last event, and asks for no snapshot", async () => {
  const server = new ScriptedServer();
  server.report("van");
  const { live, table, states, until } = begun(server);
  await until(() => live.state === "live");
  server.report("van");
  server.tell(5);
  await until(() => placesIn(table).van![0] === 102);
  server.breakOff();
  server.report("car");
  await until(() => server.asked.length === 3);
  server.tell(5);
  await until(() => table.size === 2);
  expect(server.asked).toEqual(["/api/v1/locations/current/columns", "/api/v1/live 101", "/api/v1/live 102"]);
  expect(states).toEqual(["starting", "live", "reconnecting", "live"]);
  live.end();
});

test("pauses begin anew once something was heard", async () => {
  const server = new ScriptedServer();
  server.refuse();
  server.refuse();
  const { live, tries, until } = begun(server);
  await until(() => live.state === "live");
  server.breakOff();
  await until(() => tries.length === 3);
  expect(tries).toEqual([1, 2, 1]);
  live.end();
});

test("an event that was not taken whole comes again", async () => {
  const server = new ScriptedServer();
  const { live, table, until } = begun(server);
  await until(() => live.state === "live");
  server.report("van");
  server.tellHalf(5);
  await until(() => server.asked.length === 3);
  expect(server.asked.at(-1)).toBe("/api/v1/live 100");
  server.tell(5);
  await until(() => table.size === 1);
  live.end();
});

test("a reset makes a snapshot, and the same stream goes on", async () => {
  const server = new ScriptedServer();
  const { live, table, until } = begun(server);
  await until(() => live.state === "live");
  server.report("van");
  server.forget();
  server.breakOff();
  await until(() => table.size === 1);
  server.report("car");
  server.tell(5);
  await until(() => table.size === 2);
  expect(server.asked.slice(2)).toEqual(["/api/v1/live 100", "/api/v1/locations/current/columns"]);
  live.end();
});

test("a connection on which nothing comes is given up; beats keep it", async () => {
  const server = new ScriptedServer();
  const { live, time, until } = begun(server);
  await until(() => live.state === "live");
  for (let beats = 0; beats < 5; beats++) {
    await time.pass(39_999);
    server.beat();
    await turns();
  }
  await time.pass(39_999);
  expect(server.asked.length).toBe(2);
  await time.pass(2); // The silence ends, and the pause before the next try.
  expect(server.asked[2]).toBe("/api/v1/live 100");
  live.end();
});

test("only a refusal of our own server stops it, and the user may connect again", async () => {
  const strangers = [503, 429, 404, 403, 405, 401, 0].map(
    (status) => new ApiError(status, `It says ${status}.`, { retryAfterSeconds: status === 503 ? 7 : null }),
  );
  const refusal = new ApiError(403, "the API key lacks the permission read", { isOurs: true });
  const server = new ScriptedServer();
  let failures = [...strangers, refusal];
  const asked: (number | null)[] = [];
  const time = new VirtualTime();
  const live: LiveDevices = new LiveDevices({
    fetch: async (path, init) => {
      const [failure, ...others] = failures;
      failures = others;
      if (failure !== undefined) throw failure;
      return server.fetch(path, init);
    },
    table: new DeviceTable(),
    changed: () => undefined,
    retries: new Retries((tries, retryAfterSeconds) => {
      asked.push(tries, retryAfterSeconds);
      return 1;
    }, time),
    timers: time,
  });
  const until = untilIn(time);
  live.begin();
  await until(() => live.state === "stopped");
  expect([live.fault, failures]).toEqual(["The API key lacks the permission read.", []]);
  expect(asked).toEqual([1, 7, 2, null, 3, null, 4, null, 5, null, 6, null, 7, null]);
  live.wake();
  await until(() => live.state === "live");
  live.end();
});

test("what waits for an answer elsewhere tries at once when the stream is there again", async () => {
  const server = new ScriptedServer();
  const time = new VirtualTime();
  const retries = new Retries(() => 1_000_000, time);
  const live = new LiveDevices({
    ...{ fetch: server.fetch, table: new DeviceTable(), retries, timers: time },
    changed: () => undefined,
  });
  const { promise: pausing, resolve: onPause } = Promise.withResolvers<void>();
  let isUp = false;
  const answered = retries.ask(
    async () => {
      if (!isUp) throw new ApiError(502, "The server answered 502.");
      return "yes";
    },
    { signal: new AbortController().signal, onPause: () => onPause() },
  );
  await pausing;
  isUp = true;
  live.begin();
  expect(await answered).toBe("yes");
  live.end();
});

test("who signs out while a snapshot comes has nothing in memory", async () => {
  const server = new ScriptedServer();
  server.report("van");
  const snapshot = await (await server.fetch("/api/v1/locations/current/columns", {})).bytes();
  const { promise: come, resolve: beginBody } =
    Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>();
  const table = new DeviceTable();
  const live = new LiveDevices({
    fetch: async () => new Response(new ReadableStream<Uint8Array>({ start: beginBody })),
    ...{ table, retries: new Retries(), timers: new VirtualTime() },
    changed: () => undefined,
  });
  live.begin();
  const body = await come;
  body.enqueue(snapshot);
  await turns();
  body.close(); // All of it is there in the moment in which the session ends.
  live.end();
  await turns();
  expect([table.size, live.state]).toEqual([0, "stopped"]);
});

test("who signs out just as a snapshot was taken begins with another one the next time", async () => {
  const server = new ScriptedServer();
  server.report("van");
  const table = new DeviceTable();
  const live: LiveDevices = new LiveDevices({
    ...{ fetch: server.fetch, table, retries: new Retries(), timers: new VirtualTime() },
    changed: () => {
      if (live.isFilled && server.asked.length === 1) live.end();
    },
  });
  live.begin();
  await turns();
  expect([live.state, live.isFilled, table.size]).toEqual(["stopped", false, 0]);
  live.begin();
  await turns();
  expect(live.state).toBe("live");
  expect([table.size, server.asked[1]]).toEqual([1, "/api/v1/locations/current/columns"]);
  live.end();
});

test("the next session's pauses are short again", async () => {
  const server = new ScriptedServer();
  server.refuse();
  server.refuse();
  const { live, tries, until } = begun(server);
  await until(() => tries.length === 2);
  live.end();
  server.refuse();
  live.begin();
  await until(() => live.state === "live");
  expect(tries.slice(2, 3)).toEqual([1]);
  live.end();
});

test("a page that sleeps has no connection, and goes on where it was when it wakes", async () => {
  const server = new ScriptedServer();
  const { live, table, until } = begun(server);
  await until(() => live.state === "live");
  live.sleep();
  await until(() => !server.isHeard);
  server.report("van");
  live.wake();
  await until(() => live.state === "live");
  server.tell(5);
  await until(() => table.size === 1);
  expect(server.asked.at(-1)).toBe("/api/v1/live 100");
  live.end();
});

test("a pause ends when a network is there again, and with the session", async () => {
  const server = new ScriptedServer();
  server.refuse();
  const time = new VirtualTime();
  const retries = new Retries(() => 1_000_000, time);
  const live = new LiveDevices({
    ...{ fetch: server.fetch, table: new DeviceTable(), retries, timers: time },
    changed: () => undefined,
  });
  live.begin();
  await turns();
  expect([live.state, live.fault]).toEqual(["reconnecting", "The server is starting."]);
  expect(live.isFilled).toBeFalse();
  retries.wake();
  await turns();
  expect([live.state, live.retryAtMs, live.fault, live.isFilled]).toEqual(["live", null, null, true]);
  server.refuse();
  server.breakOff();
  await turns();
  expect(live.retryAtMs).not.toBeNull();
  live.end();
  await turns();
  expect([live.retryAtMs, live.isFilled]).toEqual([null, false]);
});

/** A page that is hidden and seen by the test, and what became of its stream. */
function openPage({ hidden = false } = {}) {
  const page = Object.assign(new EventTarget(), { hidden });
  const calls: string[] = [];
  const called = (name: string) => () => {
    calls.push(name);
  };
  const live = { sleep: called("sleep"), wake: called("wake") };
  const time = new VirtualTime();
  liveWhileSeen(live, { page, timers: time });
  if (!hidden) calls.length = 0; // To wake what is awake does nothing.
  const show = (isShown: boolean) => {
    page.hidden = !isShown;
    page.dispatchEvent(new Event("visibilitychange"));
  };
  return { calls, show, time };
}

test("a page that stays hidden sleeps, and wakes when it is seen", async () => {
  const { calls, show, time } = openPage();
  show(false);
  await time.pass(59_999);
  expect(calls).toEqual([]);
  await time.pass(1);
  expect(calls).toEqual(["sleep"]);
  show(true);
  expect(calls).toEqual(["sleep", "wake"]);
});

test("a page that is opened behind others sleeps until it is seen, too", async () => {
  const { calls, show, time } = openPage({ hidden: true });
  await time.pass(60_000);
  expect(calls).toEqual(["sleep"]);
  show(true);
  expect(calls).toEqual(["sleep", "wake"]);
});

test("a page that was hidden for a moment goes on", async () => {
  const { calls, show, time } = openPage();
  show(false);
  show(true);
  await time.pass(600_000);
  expect(calls).toEqual(["wake"]);
});

test("a device whose newest position is hidden goes back, and one without any position goes", async () => {
  const server = new ScriptedServer();
  for (const id of ["van", "van", "car"]) server.report(id);
  const { live, table, until } = begun(server);
  await until(() => live.state === "live");
  server.report("van");
  server.tell(5);
  await until(() => placesIn(table).van![0] === 104);
  server.hide("van");
  server.tell(5);
  await until(() => placesIn(table).van![0] === 102);
  server.hide("car");
  server.tell(5);
  await until(() => table.size === 1);
  server.report("car");
  server.tell(5);
  await until(() => table.size === 2);
  expect(server.asked).toEqual([
    ...["/api/v1/locations/current/columns", "/api/v1/live 103", "/api/v1/locations/current/columns"],
  ]);
  live.end();
});
