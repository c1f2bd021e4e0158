import { describe, expect, test } from "bun:test";
import { createEventLog } from "../../../../src/cli/screen/event-log.ts";
import { logEvents } from "../../../../src/cli/screen/server-events.ts";
import type { LogLevel } from "../../../../src/cli/serve/flags.ts";
import { FileError } from "../../../../src/runtime/files.ts";

function eventsTo(level: LogLevel) {
  const lines: Record<string, unknown>[] = [];
  const error = (line: string) => void lines.push(JSON.parse(line));
  const crash = (error: unknown) => void lines.push({ crash: error });
  return { events: logEvents(createEventLog(level, { error, errorIsTerminal: false }), 0, crash), lines };
}

const ANSWERED = { requestId: "r-1", method: "GET", route: "/health", status: 200, durationMs: 2.5000001 };

describe("logEvents()", () => {
  test("names the request that failed, and why", () => {
    const { events, lines } = eventsTo("error");
    events.onFault("r-1", new Error("no luck"));
    events.onFault("r-2", "the archive has lost records");
    expect(lines).toMatchObject([
      { event: "fault", request_id: "r-1", err: { message: "no luck" } },
      { event: "fault", request_id: "r-2", err: "the archive has lost records" },
    ]);
  });

  test("says once a minute that requests fail over what is known, and each time where it is not", () => {
    const { events, lines } = eventsTo("error");
    for (let request = 0; request < 100; request++)
      events.onFault(`r-${request}`, "the archive has lost records");
    for (let request = 0; request < 3; request++) events.onFault(`r-${request}`, new Error("no luck"));
    expect(lines.map(({ request_id }) => request_id)).toEqual(["r-0", "r-0", "r-1", "r-2"]);
  });

  test("says why reports are refused once, until the reason changes", () => {
    const { events, lines } = eventsTo("info");
    for (let time = 0; time < 3; time++) events.onRefusal({ kind: "log_full" });
    const cause = new FileError("sync", "/data/wal/1.wal", "EIO");
    for (let time = 0; time < 3; time++) events.onRefusal({ kind: "log_failed", cause });
    expect(lines.map(({ event, level }) => [event, level])).toEqual([
      ["log_full", "warn"],
      ["log_failed", "warn"],
    ]);
    expect(lines[1]!.msg).toEndWith('until a restart: Cannot sync "/data/wal/1.wal": the disk failed (EIO)');
  });

  test("says that nothing could be answered for a while, once a minute", () => {
    const { events, lines } = eventsTo("info");
    for (const delayMs of [1500, 2500]) events.onHeldUp(delayMs);
    expect(lines).toMatchObject([{ level: "warn", event: "held_up", seconds: 1.5 }]);
  });

  test("tells of requests at debug alone, and nobody is asked to listen else", () => {
    expect(eventsTo("info").events.onAnswered).toBeNull();
    const { events, lines } = eventsTo("debug");
    events.onAnswered!(ANSWERED);
    expect(lines).toMatchObject([
      { level: "debug", event: "request", request_id: "r-1", route: "/health", status: 200, seconds: 0.0025 },
    ]);
  });
});
