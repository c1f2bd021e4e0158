import { afterEach, beforeEach, describe, expect } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  type Runtime,
  readFirstKey,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { store } from "../support/client.ts";
import { asUser, canBeOthers, giveTo, OWNER_UID } from "../support/other-user.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: a server's compilers, collectors and syncs step back behind the thread that answers once the process is warm,
 * also for a user who is not root; Deno shows no threads to a program, and serves as before. Method: what Linux shows
 * of the threads of a real server that stores reports.
 */

const BACKGROUND = ["JITWorker", "mi-scavenger"];
const POOL = ["Bun Pool"];

const canTry = canBeOthers();
if (!canTry) console.warn("Left out: the threads of another user's server, which need root and setpriv.");

const [bun, deno] = RUNTIMES;

describe.if(process.platform === "linux")("helper threads of a server", () => {
  let place: Place;
  beforeEach(() => {
    place = openPlace();
  });
  afterEach(() => closePlace(place));

  test("step back", () => expectNiceness(bun!, place, { background: 19, pool: 5 }));

  test.if(canTry)("step back for a user who is not root", () => {
    giveTo(OWNER_UID, place);
    return expectNiceness(asUser(OWNER_UID, bun!), place, { background: 19, pool: 5 });
  });

  test.if(deno !== undefined)("stay as they are on Deno", async () => {
    const server = await startStored(deno!, place);
    expect(threadsOf(server.pid).filter(({ niceness }) => niceness !== 0)).toEqual([]);
    await server.stop();
  });
});

async function startStored(runtime: Runtime, place: Place): Promise<ServerProcess> {
  const server = await startReady(runtime, place);
  const report = { device_id: "tram", timestamp: Date.now(), latitude: 53, longitude: -2 };
  await store({ url: server.url, key: readFirstKey(place) }, [report]);
  return server;
}

async function expectNiceness(
  runtime: Runtime,
  place: Place,
  { background, pool }: { readonly background: number; readonly pool: number },
): Promise<void> {
  const server = await startStored(runtime, place);
  await until(() => {
    const threads = threadsOf(server.pid);
    const main = threads.find(({ id }) => id === String(server.pid));
    return main?.niceness === 0 && haveAll(threads, BACKGROUND, background) && haveAll(threads, POOL, pool);
  });
  await server.stop();
}

interface Thread {
  readonly id: string;
  readonly name: string;
  readonly niceness: number;
}

/** Whether there are threads of these names, and all of them have stepped back. */
function haveAll(threads: readonly Thread[], names: readonly string[], niceness: number): boolean {
  const named = threads.filter(({ name }) => names.some((start) => name.startsWith(start)));
  return named.length > 0 && named.every((thread) => thread.niceness === niceness);
}

/** proc_pid_stat(5): the name stands in parentheses, and the niceness is the 17th value after them. */
function threadsOf(pid: number): readonly Thread[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((id) => {
    try {
      const stat = readFileSync(`/proc/${pid}/task/${id}/stat`, "utf8");
      const [start, end] = [stat.indexOf("(") + 1, stat.lastIndexOf(")")];
      const values = stat.slice(end + 2).split(" ");
      return [{ id, name: stat.slice(start, end), niceness: Number(values[16]) }];
    } catch {
      return []; // The thread has ended.
    }
  });
}
