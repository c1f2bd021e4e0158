import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { setPriority } from "node:os";
import type { Page } from "playwright-core";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  type Runtime,
  readFirstKey,
  runCommand,
  type ServerProcess,
  startReady,
} from "../../../support/server-process.ts";
import { chromiumPath } from "./chromium.ts";
import { Visit, type VisitOptions } from "./visit.ts";

// A browser that draws by the processor takes all there is of it, and the tests beside these are timed more closely.
setPriority(10);

/** A real server, started as `npm start` does, that pages of a real browser are asked of. */
export interface Stage {
  readonly runtime: Runtime;
  readonly place: Place;
  readonly server: ServerProcess;
  /** The first key: it may read and write. */
  readonly key: string;
  /** For `fetch` and the helpers of `test/system/support`. */
  readonly client: { readonly url: string; readonly key: string };
  /** Starts a server that was killed again, at the same address. */
  restart(): Promise<void>;
  /** A test with a visit of its own, at whose end nothing may have gone wrong; of a failure a picture is kept. */
  test(title: string, body: (visit: Visit, page: Page) => Promise<void>, options?: StageVisitOptions): void;
}

export interface StageVisitOptions extends VisitOptions {
  /** What the browser calls the server; its address where nothing is given. */
  readonly host?: string;
}

export interface StageOptions {
  /** Flags of the server, which may name files that are put beside its data directory. */
  args?(place: Place): readonly string[];
  /**
   * What is tested is the page, which is the same from either runtime: one server is enough, and half the time. The
   * long tests have all of them once more with a server on Deno (`test/long/browser.test.ts`).
   */
  readonly isPageAlone?: boolean;
  /** Keeps records of any age, for reports of fixed dates: the default retention forgets them after a year. */
  readonly keepsAll?: boolean;
  /** What is done once the server runs, such as giving it data. */
  prepare?(stage: Stage): Promise<unknown>;
}

/**
 * The tests on both runtimes, or on one where that is enough, each with a server that all of them share; none where
 * there is no browser.
 */
export function describePage(
  subject: string,
  define: (stage: Stage) => void,
  options: StageOptions = {},
): void {
  const runtimes = runtimesFor(options);
  describe.skipIf(chromiumPath === null).each(runtimes)(`${subject} on $name`, (runtime) => {
    const argsIn = (place: Place) => options.args?.(place) ?? [];
    let opened: Pick<Stage, "place" | "server" | "key" | "client">;
    const stage: Stage = {
      runtime,
      get place() {
        return opened.place;
      },
      get server() {
        return opened.server;
      },
      get key() {
        return opened.key;
      },
      get client() {
        return opened.client;
      },
      async restart() {
        await opened.server.ended;
        const { port } = new URL(opened.server.url);
        const server = await startReady(runtime, opened.place, ["--port", port, ...argsIn(opened.place)]);
        opened = { ...opened, server };
      },
      test(title, body, visitOptions) {
        test(title, () => runTest(`${subject} ${runtime.name} ${title}`, stage, body, visitOptions));
      },
    };

    beforeAll(async () => {
      const place = openPlace();
      if (options.keepsAll === true) await keepAll(runtime, place);
      const server = await startReady(runtime, place, argsIn(place));
      const key = readFirstKey(place);
      opened = { place, server, key, client: { url: server.url, key } };
      await options.prepare?.(stage);
    });

    afterAll(() => closePlace(opened.place));

    define(stage);
  });
}

/** One runtime, where the environment asks for it. */
function runtimesFor({ isPageAlone = false }: StageOptions): readonly Runtime[] {
  const { WHEREHOUSE_TEST_RUNTIME: name } = process.env;
  if (name !== undefined) return RUNTIMES.filter((runtime) => runtime.name === name);
  return isPageAlone ? RUNTIMES.slice(0, 1) : RUNTIMES;
}

async function runTest(
  title: string,
  { server }: Stage,
  body: (visit: Visit, page: Page) => Promise<void>,
  { host, ...options }: StageVisitOptions = {},
): Promise<void> {
  const visit = await Visit.open(host === undefined ? server.url : at(host, server.url), options);
  try {
    await body(visit, visit.page);
    expect(visit.faults).toEqual([]);
  } catch (error) {
    console.error(`What the page showed: ${await visit.keepPicture(title)}`);
    if (visit.faults.length > 0) console.error(`What went wrong on it: ${visit.faults.join("\n")}`);
    await visit.close();
    throw error;
  }
  await visit.end();
}

/** The same server by another name, which leads to this machine (`OTHER_HOSTS`). */
function at(host: string, url: string): string {
  return `http://${host}:${new URL(url).port}`;
}

async function keepAll(runtime: Runtime, place: Place): Promise<void> {
  const { code, error } = await runCommand(runtime, place, ["settings", "set", "retention", "forever"]);
  if (code !== 0) throw new Error(error);
}
