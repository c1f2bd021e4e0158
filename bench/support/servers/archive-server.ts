import { readFileSync } from "node:fs";
import { join } from "node:path";
import { directoryPaths } from "../../../src/directory/paths.ts";
import { bunForServer } from "../run/profiling.ts";

const ROOT = join(import.meta.dir, "../../..");
const WAIT_MS = 120_000;

/** Wherehouse in a separate process, over a directory that outlives it. */
export interface ArchiveServer {
  readonly url: string;
  readonly key: string;
  readonly pid: number;
  /** The time from the start of the process to the first 200 of /ready. */
  readonly readyMs: number;
  /** Waits for a line of its log, since its start. */
  logLine(pattern: RegExp): Promise<RegExpExecArray>;
  stop(): Promise<void>;
}

export async function startArchiveServer(dataDir: string): Promise<ArchiveServer> {
  const startMs = performance.now();
  const argv = [...bunForServer(), "src/main.ts", "serve", "--port", "0", "--data-dir", dataDir];
  const child = Bun.spawn(argv, { cwd: ROOT, stdout: "pipe", stderr: "pipe" });
  const out = collect(child.stdout);
  const errors = collect(child.stderr);
  const url = (await waitFor(out, /http:\/\/[\d.]+:\d+(?= )/))[0];
  while (!(await fetch(`${url}/ready`)).ok) await Bun.sleep(2);
  const readyMs = performance.now() - startMs;
  return {
    url,
    key: readFileSync(directoryPaths(dataDir).firstKey, "utf8").trim(),
    pid: child.pid,
    readyMs,
    logLine: (pattern) => waitFor(errors, pattern),
    async stop() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

interface Output {
  text: string;
  isOver: boolean;
}

function collect(stream: ReadableStream<Uint8Array>): Output {
  const output = { text: "", isOver: false };
  const decoder = new TextDecoder();
  void (async () => {
    for await (const bytes of stream) output.text += decoder.decode(bytes, { stream: true });
    output.isOver = true;
  })();
  return output;
}

async function waitFor(output: Output, pattern: RegExp): Promise<RegExpExecArray> {
  for (const startMs = performance.now(); performance.now() - startMs < WAIT_MS; await Bun.sleep(2)) {
    const found = pattern.exec(output.text);
    if (found !== null) return found;
    if (output.isOver) break;
  }
  throw new Error(`the server did not say ${pattern}, but: ${output.text}`);
}
