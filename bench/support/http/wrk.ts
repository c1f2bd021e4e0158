import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert } from "../../../src/lib/assert.ts";

/** Requests without a body, the same for our server and the control. */
export interface Questions {
  /** The paths in turn, repeatedly. */
  readonly paths: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}

export interface WrkOptions {
  readonly program: string;
  readonly url: string;
  readonly questions: Questions;
  readonly connections: number;
  /** An integer, as wrk requires. */
  readonly seconds: number;
}

/** The output of `done` in the script. */
interface WrkSummary {
  readonly requests: number;
  readonly microseconds: number;
  readonly refused: number;
  readonly broken: number;
}

/** The answered requests of some seconds. */
export interface Answered {
  readonly requests: number;
  readonly requestsPerSecond: number;
}

/** Runs one thread of wrk, with a closed loop on each connection. Throws if a request is refused. */
export async function runWrk(options: WrkOptions): Promise<Answered> {
  const { program, url, questions, connections, seconds } = options;
  const directory = mkdtempSync(join(tmpdir(), "wherehouse-wrk-"));
  try {
    const paths = join(directory, "paths");
    writeFileSync(paths, questions.paths.join("\n"));
    const script = join(directory, "questions.lua");
    writeFileSync(script, scriptOf(paths, questions.headers));
    const flags = ["--threads", "1", "--connections", String(connections), "--duration", `${seconds}s`];
    const child = Bun.spawn([program, ...flags, "--script", script, url], { stdout: "pipe", stderr: "pipe" });
    const said = await new Response(child.stdout).text();
    const summary = parseSummary(said);
    assert(summary !== null, `wrk sums up instead of: ${said}${await new Response(child.stderr).text()}`);
    const { requests, microseconds, refused, broken } = summary;
    if (refused + broken > 0) {
      throw new Error(
        `of ${requests} requests ${refused} were refused, and ${broken} times a connection broke`,
      );
    }
    return { requests, requestsPerSecond: (requests / microseconds) * 1e6 };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Requests are built once; there is no `response` function, since wrk would copy every body into Lua. */
function scriptOf(pathsFile: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `  wrk.headers["${name}"] = "${value}"`);
  return `local requests, at = {}, 0

function init()
${lines.join("\n")}
  for path in io.lines("${pathsFile}") do requests[#requests + 1] = wrk.format("GET", path) end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary)
  local errors = summary.errors
  io.write(string.format('\\nsummary {"requests":%d,"microseconds":%d,"refused":%d,"broken":%d}\\n', summary.requests,
    summary.duration, errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
`;
}

function parseSummary(said: string): WrkSummary | null {
  const line = /^summary (.*)$/m.exec(said)?.[1];
  return line === undefined ? null : (JSON.parse(line) as WrkSummary);
}
