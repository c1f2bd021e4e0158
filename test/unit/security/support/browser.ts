import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A page in a real browser, driven by its own protocol; nothing is installed for it. */
export interface BrowserPage {
  /** Opens an address, and resolves when it has loaded. */
  open(url: string): Promise<void>;
  /** The value of an expression in the page, promises awaited. */
  evaluate(expression: string): Promise<unknown>;
  /** Every address that the page asked for so far. */
  readonly requested: readonly string[];
  /** What the browser complained about: scripts that failed, what a policy refused. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly sessionId?: string;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
  readonly params?: Record<string, unknown>;
}

const PROGRAMS = ["chromium", "chromium-browser", "google-chrome"];

/** The browser's path; null, after one line that says so, where the machine has none. */
export function findBrowser(): string | null {
  for (const program of PROGRAMS) {
    const path = Bun.which(program);
    if (path !== null) return path;
  }
  console.warn("Left out: the documents' page in a real browser, which this machine does not have.");
  return null;
}

export async function openPage(program: string): Promise<BrowserPage> {
  const profile = join(tmpdir(), `wherehouse-browser-${crypto.randomUUID()}`);
  const child = Bun.spawn(
    [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
      .concat(["--disable-background-networking", "--remote-debugging-port=0", `--user-data-dir=${profile}`])
      .concat(["about:blank"]),
    { stdout: "ignore", stderr: "pipe", stdin: "ignore" },
  );
  const socket = new WebSocket(await debuggerUrl(child.stderr));
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", reject);
  });

  const waiting = new Map<number, PromiseWithResolvers<Record<string, unknown>>>();
  const requested: string[] = [];
  const complaints: string[] = [];
  let loaded = Promise.withResolvers<void>();
  let sent = 0;

  socket.addEventListener("message", ({ data }) => {
    const { id, method, params = {}, result = {}, error } = JSON.parse(String(data)) as Message;
    if (id !== undefined) {
      if (error === undefined) waiting.get(id)?.resolve(result);
      else waiting.get(id)?.reject(new Error(error.message));
      waiting.delete(id);
    }
    if (method === "Page.loadEventFired") loaded.resolve();
    if (method === "Network.requestWillBeSent") requested.push((params.request as { url: string }).url);
    if (method === "Runtime.exceptionThrown") complaints.push(JSON.stringify(params));
    if (method === "Log.entryAdded" && isFault(params.entry)) complaints.push(JSON.stringify(params.entry));
  });

  function send(method: string, params: object, sessionId?: string): Promise<Record<string, unknown>> {
    const answer = Promise.withResolvers<Record<string, unknown>>();
    waiting.set(++sent, answer);
    socket.send(
      JSON.stringify({ id: sent, method, params, ...(sessionId === undefined ? {} : { sessionId }) }),
    );
    return answer.promise;
  }

  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  const attached = await send("Target.attachToTarget", { targetId, flatten: true });
  const session = String(attached.sessionId);
  for (const domain of ["Page", "Network", "Log", "Runtime"]) await send(`${domain}.enable`, {}, session);

  return {
    requested,
    complaints,
    async open(url) {
      loaded = Promise.withResolvers();
      await send("Page.navigate", { url }, session);
      await loaded.promise;
    },
    async evaluate(expression) {
      const options = {
        expression,
        awaitPromise: true,
        returnByValue: true,
        allowUnsafeEvalBlockedByCSP: false,
      };
      const { result, exceptionDetails } = await send("Runtime.evaluate", options, session);
      if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
      return (result as { value?: unknown }).value;
    },
    async close() {
      await send("Browser.close", {}).catch(() => undefined);
      socket.close();
      await child.exited;
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

/** A browser also recommends what would be nice to have, and says that as `verbose`. */
function isFault(entry: unknown): boolean {
  return (entry as { level: string }).level !== "verbose";
}

/** The browser says where it listens once it does. */
async function debuggerUrl(stderr: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stderr.getReader();
  const decoder = new TextDecoder();
  let said = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`The browser ended: ${said}`);
    said += decoder.decode(value, { stream: true });
    const url = /DevTools listening on (ws:\S+)/.exec(said)?.[1];
    if (url !== undefined) {
      drain(reader);
      return url;
    }
  }
}

/** Reads on, so that the browser never waits for a reader. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  while (!(await reader.read()).done);
}
