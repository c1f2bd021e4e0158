import { afterAll, describe, expect } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { printable, printableLine } from "../../../src/lib/text/printable.ts";
import { createTerminal } from "../../../src/runtime/process.ts";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  readFirstKey,
  runCommand,
  startServing,
} from "../../support/server-process.ts";
import { sendRaw } from "../../unit/security/support/raw-request.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: nothing that others name or send can move a terminal's cursor, change its colors, or pass for a line of
 * ours. Method: names of files, directories, labels and requests that try, in every command that repeats them.
 */

/** Colors, a title, a line that is written over, C1 codes, a text turned around, and a forged line. */
const HOSTILE = "\u001b[31mred\u001b]0;title\u0007\r\u009b2Jx\u202etxt\nReady after 0 s";
const DISTURBING = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]/;

describe("printable()", () => {
  test("takes out what disturbs a terminal, and leaves line ends and all letters", () => {
    expect(printable(HOSTILE)).not.toMatch(DISTURBING);
    expect(printable(HOSTILE)).toEndWith("txt\nReady after 0 s");
    expect(printableLine(HOSTILE)).not.toInclude("\n");
    const harmless = "caf\u00e9 \u{1f68c} \u05d0\u05d1 [31m ~\n";
    expect(printable(harmless)).toBe(harmless);
  });
});

describe("createTerminal()", () => {
  function terminalOf(isTTY: boolean) {
    const said = { out: "", error: "" };
    const stream = (name: keyof typeof said) => ({
      isTTY,
      on: () => undefined,
      write: (text: string) => {
        said[name] += text;
      },
    });
    return { said, terminal: createTerminal({ stdout: stream("out"), stderr: stream("error") }) };
  }

  test("shows a person nothing that disturbs, and redraws a line by codes of its own alone", () => {
    const { said, terminal } = terminalOf(true);
    terminal.out(HOSTILE);
    terminal.error(HOSTILE);
    expect(said.out + said.error).not.toMatch(DISTURBING);
    terminal.redraw(HOSTILE);
    expect(said.error.replace(/\r(.*\n.*)\u001b\[K$/, "$1")).not.toMatch(DISTURBING);
  });

  test("draws a picture in white on black, line by line, with nothing else that disturbs", () => {
    const { said, terminal } = terminalOf(true);
    terminal.picture("█▀\n▄ ");
    expect(said.error).toBe("\u001b[97;40m█▀\u001b[0m\n\u001b[97;40m▄ \u001b[0m\n");
    terminal.picture(HOSTILE);
    const lines = said.error.replaceAll(/\u001b\[97;40m(.*)\u001b\[0m\n/g, "$1");
    expect(lines).not.toMatch(DISTURBING);
  });

  test("hands a pipe its results to the letter, and a log its lines without control characters", () => {
    const { said, terminal } = terminalOf(false);
    terminal.out(HOSTILE);
    terminal.error(HOSTILE);
    expect(said.out).toBe(HOSTILE);
    expect(said.error).not.toMatch(DISTURBING);
  });
});

describe("commands", () => {
  const [runtime] = RUNTIMES;
  const places: Place[] = [];
  afterAll(() => Promise.all(places.map(closePlace)));
  const newPlace = () => {
    places.push(openPlace());
    return places.at(-1)!;
  };

  /** Every line of ours is one that we begin. */
  function expectClean(text: string): void {
    expect(text).not.toMatch(DISTURBING);
    expect(text).not.toMatch(/^Ready after 0 s/m);
  }

  test("import repeats names of files and columns, and what is wrong with rows, without what they try", async () => {
    const place = newPlace();
    const path = join(place.directory, `${HOSTILE.replaceAll("/", "")}.csv`);
    const columns = `device_id,timestamp_ms,latitude,longitude,"${HOSTILE}"`;
    writeFileSync(
      path,
      `${columns}\n"${HOSTILE}",${Date.now()},1,2,x\nbus,"${HOSTILE}",1,2,x\nbus,${Date.now()},1,2,x\n`,
    );
    const { code, out, error } = await runCommand(runtime!, place, ["import", path, "--app", "a"], [path]);
    expect([code, out.includes("3 read   1 new   0 already there   2 skipped")]).toEqual([0, true]);
    expect(error).toContain("red");
    expectClean(out + error);
    const missing = await runCommand(runtime!, place, ["import", `${path}.csv`, "--app", "a"]);
    expectClean(missing.out + missing.error);
  });

  test("verify repeats names of files in the directory without what they try", async () => {
    const place = newPlace();
    await runCommand(runtime!, place, ["keys", "create", "--app", "a", "--permission", "read"]);
    for (const folder of ["damaged", "archive", "archive/day=2026-01-01", "archive/latest", "wal"]) {
      mkdirSync(join(place.dataDir, folder), { recursive: true });
      writeFileSync(join(place.dataDir, folder, HOSTILE.replaceAll("/", "")), "x");
      writeFileSync(join(place.dataDir, folder, `${HOSTILE.replaceAll("/", "")}.parquet`), "x");
    }
    const { out, error } = await runCommand(runtime!, place, ["verify"]);
    expect(out).toContain("red");
    expectClean(out + error);
  });

  test("keys takes no label and no app that would disturb, and lists the others as they are", async () => {
    const place = newPlace();
    const create = (...args: string[]) =>
      runCommand(runtime!, place, ["keys", "create", "--permission", "read", ...args]);
    for (const args of [
      ["--app", "a", "--label", HOSTILE],
      ["--app", HOSTILE],
      ["--app", "a", "--tier", HOSTILE],
    ]) {
      const { code, out, error } = await create(...args);
      expect([code, out]).toEqual([2, ""]);
      expectClean(error);
    }
    expect((await create("--app", "a", "--label", "caf\u00e9")).code).toBe(0);
    const { out } = await runCommand(runtime!, place, ["keys", "list"]);
    expect(out).toContain("caf\u00e9");
    expectClean(out);
  });

  test.each(RUNTIMES)(
    "$name: every line of serve is one object of JSON, whatever requests and directories say",
    async (each) => {
      const { directory } = newPlace();
      const place = { directory, dataDir: join(directory, `data ${HOSTILE.replaceAll("/", "")}`) };
      const server = await startServing(each, place, ["--log-level", "debug"]);
      const key = readFirstKey(place);
      const ids = ['a","level":"fatal', "a\\n{}", "%0a{}", "'$(id)'", "\u001b[31m", "a\u009bb"];
      for (const id of ids) {
        for (const target of [
          `/api/v1/devices/${id.replaceAll(" ", "")}%0a{}/locations/history`,
          "/nowhere%0a{}",
          "/health",
        ]) {
          const bytes = Buffer.from(id).toString("latin1");
          await sendRaw(
            server.url,
            `GET ${target} HTTP/1.1\r\nAuthorization: Bearer ${key}\r\nX-Request-Id: ${bytes}\r\nUser-Agent: {}`,
          );
        }
      }
      const { error, code } = await server.stop();
      expect(code).toBe(0);
      const lines = error.trimEnd().split("\n");
      expect(lines.length).toBeGreaterThan(10);
      for (const line of lines) {
        expect(line).not.toMatch(DISTURBING);
        const members = JSON.parse(line) as { level: string; msg: string };
        expect(["debug", "info", "warn"]).toContain(members.level);
        expect(typeof members.msg).toBe("string");
      }
      expect(error).not.toContain(key.slice(3, 15));
    },
  );
});
