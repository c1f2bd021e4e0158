import { expect, test } from "bun:test";
import { STAGED_FORMAT } from "../../../../src/archive/write/staged-rows.ts";
import type { HelperEvents, StartHelper } from "../../../../src/runtime/helper/helper.ts";
import {
  type ExportMaker,
  ExportMakers,
  type ExportMakersOptions,
} from "../../../../src/service/export/maker/export-makers.ts";
import {
  type ExportSettings,
  type FromMaker,
  PIECES_MAX,
  type ToMaker,
} from "../../../../src/service/export/maker/messages.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";
import { PLAIN } from "./export-of.ts";

/*
 * Goal: processes that make exports are used again, ended when nobody needs them, and killed where they don't listen.
 * Method: processes that are told of here, and say what a test has them say.
 */

const SETTINGS: ExportSettings = {
  format: "ndjson",
  options: { ...PLAIN, zone: null },
  order: "time",
  archiveDirectory: "/archive",
  scratchDirectory: "/archive/scratch/export-1",
};

const OUTCOME: FromMaker = {
  kind: "outcome",
  result: { ok: true, value: null },
  records: 0,
  file: null,
};

/** What a process does when it is told something. */
type Behaviour = (message: ToMaker, say: (message: FromMaker) => void) => void;

/** Does what it is told, at once. */
const DILIGENT: Behaviour = ({ kind }, say) => {
  if (kind === "close") say({ kind: "closed" });
  else if (kind !== "open" && kind !== "taken") say(OUTCOME);
};

/** Stands in a native call. */
const DEAF: Behaviour = () => {};

class Processes {
  /** One for each that was begun. */
  readonly ended: PromiseWithResolvers<void>[] = [];
  readonly told: ToMaker["kind"][][] = [];
  readonly events: HelperEvents[] = [];

  starter(behaviour: Behaviour, format = STAGED_FORMAT): StartHelper {
    return (_, events) => {
      const told: ToMaker["kind"][] = [];
      const ended = Promise.withResolvers<void>();
      this.told.push(told);
      this.ended.push(ended);
      this.events.push(events);
      queueMicrotask(() => events.onMessage({ kind: "ready", format } satisfies FromMaker));
      return {
        send: (message) => {
          told.push((message as ToMaker).kind);
          behaviour(message as ToMaker, (answer) => queueMicrotask(() => events.onMessage(answer)));
        },
        end: () => {
          ended.resolve();
          queueMicrotask(() => events.onEnd("SIGKILL"));
        },
      };
    };
  }
}

function makersWith(startHelper: StartHelper, more: Partial<ExportMakersOptions> = {}): ExportMakers {
  return new ExportMakers({ startHelper, onNote: () => {}, ...more });
}

function open(makers: ExportMakers): ExportMaker {
  return makers.open(SETTINGS, { onPiece: () => {} });
}

function failureOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "nothing",
    (error) => String(error),
  );
}

test("one process makes a hundred exports one after the other, then another does", async () => {
  const processes = new Processes();
  const makers = makersWith(processes.starter(DILIGENT));
  for (let exports = 0; exports < 101; exports++) {
    const maker = open(makers);
    expect((await maker.run({ kind: "end" })).result.ok).toBe(true);
    await maker.close();
    maker.taken(); // By a client that is late.
  }
  expect(processes.told.map((told) => told.length)).toEqual([300, 3]);
  await processes.ended[0]!.promise;
});

test("exports at once have a process each, and one that nobody needs ends", async () => {
  const processes = new Processes();
  const makers = makersWith(processes.starter(DILIGENT), { idleMs: 1 });
  const both = [open(makers), open(makers)];
  await Promise.all(both.map((maker) => maker.close()));
  expect(processes.told).toEqual([
    ["open", "close"],
    ["open", "close"],
  ]);
  await Promise.all(processes.ended.map(({ promise }) => promise));
});

test("a process that doesn't break off in time is killed, and what waits for it is told first", async () => {
  const processes = new Processes();
  const makers = makersWith(processes.starter(DEAF), { closeMsMax: 1 });
  const maker = open(makers);
  const outcome = failureOf(maker.run({ kind: "end" }));
  await maker.close();
  expect(await outcome).toContain("The export is over");
  await processes.ended[0]!.promise;
  expect(await failureOf(maker.run({ kind: "end" }))).toContain("The export is over");
});

test("a process that dies fails its export, and makes no other", async () => {
  const processes = new Processes();
  const makers = makersWith(processes.starter(DEAF));
  const maker = open(makers);
  const outcome = failureOf(maker.run({ kind: "end" }));
  await Promise.resolve(); // It says that it is ready.
  processes.events[0]!.onEnd("SIGSEGV");
  expect(await outcome).toContain("ended: SIGSEGV");
  await maker.close();
  open(makers);
  expect(processes.told).toHaveLength(2);
});

test("a process that does nothing for three minutes is killed, and one that works or waits for its client is not", async () => {
  const processes = new Processes();
  const time = new VirtualTime();
  const makers = makersWith(processes.starter(DEAF), { timers: time });
  const [stopped, working, ahead] = [open(makers), open(makers), open(makers)];
  const outcome = failureOf(stopped.run({ kind: "end" }));
  const others = [working, ahead].map((maker) => failureOf(maker.run({ kind: "end" })));
  await Promise.resolve(); // They say that they are ready.
  const piece: FromMaker = { kind: "piece", bytes: new Uint8Array(1) };
  for (let pieces = 0; pieces < PIECES_MAX; pieces++) processes.events[2]!.onMessage(piece);
  for (let minutes = 0; minutes < 10; minutes++) {
    await time.until(time.wait(60_000));
    processes.events[1]!.onMessage({ kind: "working" } satisfies FromMaker);
  }
  expect(await outcome).toContain("done nothing for three minutes");
  await processes.ended[0]!.promise;
  expect(await Promise.race([...others, "they go on"])).toBe("they go on");
  makers.stop();
  await Promise.all(others);
});

test("a process of another version makes nothing", async () => {
  const processes = new Processes();
  const maker = open(makersWith(processes.starter(DILIGENT, "app_id")));
  expect(await failureOf(maker.run({ kind: "end" }))).toContain("of another version");
  await processes.ended[0]!.promise;
  expect(processes.told[0]).toEqual([]);
});

test("stop() ends those that work, those that wait, and those that come later", async () => {
  const processes = new Processes();
  const makers = makersWith(processes.starter(DEAF));
  const working = open(makers);
  makers.stop();
  await working.close();
  await processes.ended[0]!.promise;
  await open(makers).close();
  await processes.ended[1]!.promise;
});

test("where no process can begin, a thread makes the export, and it is said once", async () => {
  const refused: StartHelper = (_, events) => {
    queueMicrotask(() => events.onEnd("EAGAIN"));
    return { send() {}, end() {} };
  };
  const notes: string[] = [];
  const makers = new ExportMakers({ startHelper: refused, onNote: (note) => notes.push(note) });
  const both = [open(makers), open(makers)];
  for (const maker of both) {
    expect((await maker.run({ kind: "end" })).result.ok).toBe(true);
    await maker.close();
  }
  expect(notes).toEqual(["Exports are made in this process, and may keep answers waiting. EAGAIN."]);
  makers.stop();
});
