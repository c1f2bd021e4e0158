import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Schemathesis, a fuzzer of interfaces that reads the OpenAPI document and knows nothing else of ours. It is
 * installed once per machine beside other temporary files, and never into the project.
 */

const VERSION = "4.32.5";
const HOME = join(tmpdir(), `wherehouse-schemathesis-${VERSION}`);
const PROGRAM = join(HOME, "bin", "schemathesis");
/** Written last, so that an installation that was cut off is made again. */
const COMPLETE = join(HOME, "complete");
const INSTALL_MS_MAX = 120_000;

/** The program's path; null, after one line that says why, where Python or its packages are out of reach. */
export async function installSchemathesis(): Promise<string | null> {
  if (existsSync(COMPLETE)) return PROGRAM;
  rmSync(HOME, { recursive: true, force: true });
  mkdirSync(HOME, { mode: 0o700 });
  const steps = [
    ["python3", "-m", "venv", HOME],
    [join(HOME, "bin", "pip"), "install", "--quiet", "--only-binary", ":all:", `schemathesis==${VERSION}`],
  ];
  for (const step of steps) {
    const failure = await failureOf(step);
    if (failure === null) continue;
    console.warn(`Left out: Schemathesis over the real server, since ${step[0]} fails: ${failure}`);
    return null;
  }
  writeFileSync(COMPLETE, "");
  return PROGRAM;
}

/** What stands in the way of a command, in one line; null where it did its work. */
async function failureOf(command: readonly string[]): Promise<string | null> {
  try {
    const child = Bun.spawn([...command], { stdout: "ignore", stderr: "pipe", timeout: INSTALL_MS_MAX });
    const said = await new Response(child.stderr).text();
    if ((await child.exited) === 0) return null;
    return said.trim().split("\n").at(-1) ?? "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** What a run found, as its report lists it. */
export interface Findings {
  readonly complete: boolean;
  readonly test_cases: { readonly generated: number; readonly errored: number };
  readonly operations: { readonly tested: number; readonly selected: number };
  readonly failures: readonly {
    readonly title: string;
    readonly count: number;
    readonly operations: readonly string[];
  }[];
  readonly errors: readonly { readonly title?: string }[];
  readonly warnings: Readonly<Record<string, readonly unknown[]>>;
}

export interface Run {
  readonly findings: Findings;
  /** All that it printed: what it tried, and how to try it again. */
  readonly printed: string;
}

export interface RunOptions {
  readonly program: string;
  readonly url: string;
  readonly key: string;
  /** For its settings and reports. */
  readonly directory: string;
  /** Requests that it makes up of each operation, besides those for every bound of every parameter. */
  readonly examples: number;
  readonly seed: number;
}

export async function runSchemathesis(options: RunOptions): Promise<Run> {
  const { program, url, key, directory, examples, seed } = options;
  const files = {
    settings: join(directory, "schemathesis.toml"),
    hooks: join(directory, "hooks.py"),
    report: join(directory, "report.json"),
  };
  writeFileSync(files.settings, SETTINGS);
  writeFileSync(files.hooks, HOOKS);
  const child = Bun.spawn(
    [program, "--config-file", files.settings, "run", `${url}/docs`, "--url", url]
      .concat(["--max-examples", String(examples), "--seed", String(seed), "--continue-on-failure"])
      .concat(["--exclude-path-regex", LEFT_OUT])
      .concat(["--generation-database", "none", "--suppress-health-check", "all", "--no-color"])
      .concat(["--report", "json", "--report-json-path", files.report]),
    {
      cwd: directory,
      stdout: "pipe",
      stderr: "pipe",
      env: { ...process.env, SCHEMATHESIS_HOOKS: files.hooks, WHEREHOUSE_KEY: key },
    },
  );
  const printed = (
    await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  ).join("");
  await child.exited;
  if (!existsSync(files.report)) throw new Error(`Schemathesis did not run: ${printed}`);
  return { findings: (await Bun.file(files.report).json()) as Findings, printed };
}

/**
 * It makes up keys for paths that hold one, which are all wrong; with a good one they are the paths without, which it
 * asks. What OsmAnd is refused is held for 5 s each time.
 */
const LEFT_OUT = String.raw`/k/\{key\}|^/ingest/osmand`;

/*
 * All its checks but one: a request that fits the document may still be refused, since a date may lie before
 * another and a body be packed otherwise than its header says. A report that breaks the document is refused in
 * an answer of 200, since each stands alone; and what a client of its own path sends in a query is text whatever
 * it is, taken in and kept where it can't be read.
 */
const SETTINGS = `
[auth.openapi.apiKey]
bearer = "\${WHEREHOUSE_KEY}"

[checks]
positive_data_acceptance.enabled = false

[[operations]]
include-method = "POST"
checks.negative_data_rejection.enabled = false

[[operations]]
include-path-regex = "^/(ingest/(?!v1/)|pub)"
checks.negative_data_rejection.enabled = false
`;

/**
 * How reports are written one a line, and how a stream without an end is read, which it does not know; and that no
 * answer is asked to know of an entry that does not come: each would be waited for, 5 s long.
 */
const HOOKS = `
import json
from urllib.parse import urlencode
import schemathesis

@schemathesis.serializer("application/x-ndjson")
def lines(ctx, value):
    rows = value if isinstance(value, list) else [value]
    text = value if isinstance(value, str) else "\\n".join(json.dumps(row) for row in rows)
    return text.encode("utf-8", "surrogatepass")

def read_beginning(response, **_):
    if response.headers.get("Content-Type") == "text/event-stream":
        response._content = next(response.iter_content(65536), b"")
        response.close()

# A request may have headers that nobody knows.
UNKNOWN_HEADER = "x-schemathesis-unknown-property"
# A head of more than 16 KiB is refused by the runtime, which knows no document: test/unit/security/requests/raw-requests
# has those.
QUERY_BYTES_MAX = 12_000

@schemathesis.hook
def filter_case(ctx, case):
    is_short = len(urlencode(dict(case.query or {}), doseq=True, errors="replace")) <= QUERY_BYTES_MAX
    return is_short and UNKNOWN_HEADER not in {name.lower() for name in (case.headers or {})}

@schemathesis.hook
def before_call(ctx, case, kwargs):
    kwargs["stream"] = True
    kwargs["hooks"] = {"response": read_beginning}
    known = (case.headers or {}).get("Wherehouse-Min-Sequence")
    if known is not None and str(known).isdecimal() and int(known) > 1:
        case.headers["Wherehouse-Min-Sequence"] = "1"
`;
