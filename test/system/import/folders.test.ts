import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { createSources } from "../../../src/import/sources/sources.ts";
import { createNodeInputs } from "../../../src/runtime/node-inputs.ts";
import { zipOf } from "../../support/formats/zip.ts";
import { UNIX_ENVIRONMENT } from "../../support/programs.ts";
import { until } from "../../support/until.ts";
import type { WalkRequest } from "../../unit/import/sources/described-walk.ts";
import { WALKS } from "../../unit/import/sources/walks.ts";
import { canBeOthers, STRANGER_UID } from "../support/other-user.ts";

/*
 * Goal: of folders every file is come across once, whatever else lies there; what can't be read is said, and nothing is
 * waited for. Method: real folders, walked through on both runtimes in a process of their own.
 */

const UNENDING = new AbortController().signal;

let directory: string;
let spoolDirectory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "wherehouse-sources-"));
  spoolDirectory = mkdtempSync(join(tmpdir(), "wherehouse-spool-"));
});
afterEach(() => {
  expect(readdirSync(spoolDirectory)).toEqual([]);
  for (const path of [directory, spoolDirectory]) rmSync(path, { recursive: true, force: true });
});

function put(name: string, content: Uint8Array | string = name): string {
  const path = join(directory, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

for (const [runtime, walk] of Object.entries(WALKS)) {
  describe(`on ${runtime}`, () => {
    async function walked(paths: string[], more: Partial<WalkRequest> = {}, input?: Uint8Array) {
      const found = await walk({ paths, spoolDirectory, ...more }, input);
      return found.map((each) => ({ ...each, label: each.label.replaceAll(`${directory}/`, "") }));
    }

    async function summary(paths: string[]): Promise<string[][]> {
      const found = await walked(paths);
      return found.map(({ label, content, failure, leftAlone }) => [
        label,
        failure ?? leftAlone ?? content ?? "",
      ]);
    }

    test("files come by name, those of folders in them too, and what was given in its order", async () => {
      for (const name of ["z/b.gpx", "z/a/2.gpx", "z/a/1.gpx", "z/a.gpx", "z/empty/x/.keep", "y.gpx"])
        put(name);
      const found = await walked(["y.gpx", "z", "z/a/1.gpx"].map((name) => join(directory, name)));
      expect(
        found.map(({ label, content, leftAlone, isNamed }) => [label, content ?? leftAlone, isNamed]),
      ).toEqual([
        ["y.gpx", "y.gpx", true],
        ["z/a/1.gpx", "z/a/1.gpx", false],
        ["z/a/2.gpx", "z/a/2.gpx", false],
        ["z/a.gpx", "z/a.gpx", false],
        ["z/b.gpx", "z/b.gpx", false],
        ["z/empty/x/.keep", "hidden", false],
        ["z/a/1.gpx", "z/a/1.gpx", true],
      ]);
      const [first, inFolder] = found;
      expect(first!.folders).toBe(directory.slice(1));
      expect(inFolder!.folders).toBe(`${directory.slice(1)}/z/a`);
      expect(inFolder!.identity).toBe(found.at(-1)!.identity!);
      expect(new Set(found.map(({ identity }) => identity)).size).toBe(6); // With the hidden one, which has none.
    });

    test("links are not followed, out of a folder or in circles, unless one was given", async () => {
      put("outside/secret.gpx");
      put("given/a.gpx");
      symlinkSync("..", join(directory, "given/circle"));
      symlinkSync("../outside/secret.gpx", join(directory, "given/file"));
      symlinkSync("nowhere", join(directory, "given/dangling"));
      symlinkSync("given", join(directory, "link"));
      expect(await summary([join(directory, "link")])).toEqual([
        ["link/a.gpx", "given/a.gpx"],
        ["link/circle", "link"],
        ["link/dangling", "link"],
        ["link/file", "link"],
      ]);
    });

    test("what can't be read is said of it alone, and nobody waits for a pipe", async () => {
      put("a.gpx");
      execFileSync("mkfifo", [join(directory, "b.fifo")], { env: UNIX_ENVIRONMENT });
      mkdirSync(join(directory, ".git"));
      put(".git/config");
      put("c.DS_Store");
      put(".DS_Store");
      put("d.gpx");
      const missing = join(directory, "missing.gpx");
      expect(await summary([missing, directory])).toEqual([
        ["missing.gpx", `Cannot look up "${missing}": no such file or directory (ENOENT)`],
        [".DS_Store", ".DS_Store"],
        [".git", "hidden"],
        ["a.gpx", "a.gpx"],
        ["b.fifo", "pipe or device"],
        ["c.DS_Store", "c.DS_Store"],
        ["d.gpx", "d.gpx"],
      ]);
    });

    test.if(canBeOthers())(
      "what another user may not read is said of it alone, with whose it is",
      async () => {
        chmodSync(directory, 0o755);
        for (const name of ["a/file", "b", "c"]) put(name);
        chmodSync(join(directory, "a"), 0o700);
        chmodSync(join(directory, "b"), 0o600);
        const found = await walk({ paths: [directory], spoolDirectory, uid: STRANGER_UID });
        const of = (name: string) =>
          `"${join(directory, name)}": permission denied (EACCES). "${join(directory, name)}" belongs to root`;
        expect(
          found.map(({ failure, content }) => (failure ?? content)?.split(":").slice(0, 2).join(":")),
        ).toEqual([`Cannot list ${of("a")}`, `Cannot open ${of("b")}`, "c"]);
      },
    );

    test("standard input is read once and given as often as wanted, of whatever size", async () => {
      const text = Array.from({ length: 200_000 }, (_, line) => `line ${line * 7919}\n`).join("");
      for (const input of [Buffer.from(text), gzipSync(text)]) {
        const [once] = await walked(["-"], {}, input);
        const [often] = await walked(["-"], { times: 3 }, input);
        expect(often).toEqual(once!);
        expect(once!.content).toMatch(new RegExp(`^${text.length} bytes`));
        expect([once!.label, once!.name, once!.isNamed, once!.packedBytes]).toEqual([
          "standard input",
          "stdin",
          true,
          null,
        ]);
      }
      expect((await walked(["-"], { times: 2 }))[0]!.content).toBe("");
    });

    test("a pipe that was given is read as standard input is", async () => {
      const path = join(directory, "given.fifo");
      execFileSync("mkfifo", [path], { env: UNIX_ENVIRONMENT });
      const writing = Bun.spawn(["sh", "-c", `printf 'through a pipe' > '${path}'`]);
      const [found] = await walked([path], { times: 2 });
      expect([found!.name, found!.content]).toEqual(["given.fifo", "through a pipe"]);
      await writing.exited;
    });
  });
}

/** Runs in this process, since somebody else changes the disk meanwhile. */
async function walkMeanwhile(change: (label: string) => void): Promise<string[]> {
  const options = {
    inputs: createNodeInputs(),
    paths: [directory],
    unpackedBytesMax: 1e9,
    spoolDirectory,
    signal: UNENDING,
  };
  const said: string[] = [];
  for await (const found of createSources(options).walk()) {
    const { label } = found.kind === "file" ? found.source : found.where;
    change(label);
    let content = found.kind === "failed" ? found.reason : "";
    try {
      if (found.kind === "file")
        for await (const piece of found.source.pieces()) content += Buffer.from(piece).toString();
    } catch (error) {
      content += `${error}`;
    }
    said.push(`${label}: ${content}`.replaceAll(`${directory}/`, ""));
  }
  return said;
}

test("a folder that changes while it is walked through loses what went, and no more", async () => {
  for (const name of ["a", "b/1", "b/2", "c", "d/1", "e"]) put(name);
  const said = await walkMeanwhile((label) => {
    if (!label.endsWith("/a")) return;
    unlinkSync(join(directory, "a"));
    unlinkSync(join(directory, "c"));
    rmSync(join(directory, "d"), { recursive: true });
    put("b/3");
    put("f");
  });
  const gone = "no such file or directory (ENOENT)";
  expect(said).toEqual([
    `a: FormatError: Cannot open "a": ${gone}`,
    "b/1: b/1",
    "b/2: b/2",
    "b/3: b/3",
    `c: Cannot look up "c": ${gone}`,
    `d: Cannot look up "d": ${gone}`,
    "e: e",
  ]);
});

test("a file is another where its place, its size, its time or its ends are", async () => {
  const identityOf = async (path: string) => {
    const options = {
      inputs: createNodeInputs(),
      paths: [path],
      unpackedBytesMax: 1e9,
      spoolDirectory,
      signal: UNENDING,
    };
    for await (const found of createSources(options).walk())
      return found.kind === "file" ? found.source.identity() : null;
    return null;
  };
  const time = new Date(1_700_000_000_000);
  const identities: (string | null)[] = [];
  const note = async (path: string) => {
    utimesSync(path, time, time);
    identities.push(await identityOf(path));
  };
  const long = "x".repeat(300_000);
  await note(put("a", long));
  await note(put("a", long)); // The same.
  await note(put("b", long));
  await note(put("a", `${long}x`));
  await note(put("a", `y${long.slice(1)}`));
  await note(put("a", `${long.slice(1)}y`));
  time.setSeconds(1);
  await note(put("a", long));
  expect(identities[1]).toBe(identities[0]!);
  expect(new Set(identities).size).toBe(6);
});

test("no file is left open, however little of it was read", async () => {
  put("a.gz", gzipSync("x".repeat(1e6)));
  put("b", "x".repeat(1e6));
  const zip = zipOf([{ path: "c", content: "x".repeat(1e6) }]);
  put(
    "d.zip",
    zipOf([
      { path: "e.zip", content: zip },
      { path: "f", content: "f" },
    ]),
  );
  const options = {
    inputs: createNodeInputs(),
    paths: [directory],
    unpackedBytesMax: 1e9,
    spoolDirectory,
    signal: UNENDING,
  };
  const descriptors = () => readdirSync("/proc/self/fd").length;
  const before = descriptors();
  for (let time = 0; time < 20; time++)
    for await (const found of createSources(options).walk())
      if (found.kind === "file") for await (const _ of found.source.pieces()) break;
  await until(() => descriptors() <= before + 2); // Streams close what they read from a moment later.
});
