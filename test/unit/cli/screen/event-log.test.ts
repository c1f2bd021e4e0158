import { describe, expect, test } from "bun:test";
import { createEventLog } from "../../../../src/cli/screen/event-log.ts";
import type { LogLevel } from "../../../../src/cli/serve/flags.ts";

function logTo(level: LogLevel, errorIsTerminal: boolean) {
  let said = "";
  const error = (text: string) => {
    said += text;
  };
  return { log: createEventLog(level, { error, errorIsTerminal }), said: () => said };
}

describe("createEventLog()", () => {
  test("writes one line of JSON an event, whatever its members hold", () => {
    const { log, said } = logTo("info", false);
    log.info({ event: "odd", name: 'a\n{"level":"error"}\u001b[31m\u2028' }, "Odd\nname");
    log.error({ event: "fault", request_id: "r-1", err: new Error("no\nluck") }, "Failed");
    const lines = said().split("\n");
    expect(lines.length).toBe(3);
    expect(lines.pop()).toBe("");
    const [odd, fault] = lines.map((line) => JSON.parse(line));
    expect(odd).toEqual({
      level: "info",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      event: "odd",
      name: 'a\n{"level":"error"}\u001b[31m\u2028',
      msg: "Odd\nname",
    });
    expect(fault).toMatchObject({ level: "error", request_id: "r-1", err: { message: "no\nluck" } });
    expect(fault.err.stack).toContain("event-log.test.ts");
    expect(said()).not.toContain("\u001b");
  });

  test("tells no more than its level", () => {
    const { log, said } = logTo("warn", false);
    log.info({ event: "a" }, "a");
    log.debug({ event: "b" }, "b");
    expect(said()).toBe("");
    log.warn({ event: "c" }, "c");
    expect(said()).toContain('"event":"c"');
  });

  test("shows a person the sentence alone, and where a failure came from, without codes for the terminal", () => {
    const { log, said } = logTo("info", true);
    log.info({ event: "a", more: 1 }, "It \u001b[31mruns\u0007.");
    expect(said()).toBe("It \ufffd[31mruns\ufffd.\n");
    log.error({ event: "b", err: new Error("no luck") }, "It fell.");
    expect(said()).toMatch(/It fell\.\nError: no luck\n +at /);
  });
});
