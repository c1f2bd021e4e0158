import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import {
  type Blocks,
  ErasureLedger,
  type ErasureSubject,
  type LedgerErasure,
  type NewLedgerErasure,
} from "../../../src/directory/erasure-ledger.ts";
import type { AppId } from "../../../src/model/ids.ts";
import { FileError } from "../../../src/runtime/files.ts";
import { createSimulatedFiles } from "../../support/disk/simulated-files.ts";
import * as fc from "../../support/fast-check.ts";
import { outcome } from "../../support/rejection.ts";

const PATH = "/data/erasures.json";
const APP = "fleet" as AppId;

async function createFiles() {
  const files = createSimulatedFiles();
  await files.makeDirectory("/data");
  return files;
}

function device(id: string, appId = APP): ErasureSubject {
  return { kind: "device", appId, id };
}

function user(id: string, appId = APP): ErasureSubject {
  return { kind: "user", appId, id };
}

function erasure(
  id: string,
  subject: ErasureSubject,
  members: Partial<NewLedgerErasure> = {},
): NewLedgerErasure {
  const range = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
  return { id, subject, ...range, sequence: 7, createdMs: 1_795_000_000_000, block: false, ...members };
}

function idsOf(erasures: readonly LedgerErasure[]): string[] {
  return erasures.map(({ id }) => id);
}

test("an absent ledger is created by the first erasure, which outlasts a power failure and names no id", async () => {
  const files = await createFiles();
  const ledger = await ErasureLedger.open(files, PATH);
  expect([ledger.state, ledger.erasures, ledger.matches(device("bus-7"))]).toEqual(["absent", [], []]);
  const added = await ledger.add(erasure("e_1", device("bus-7"), { startMs: 5, endMs: 9, block: true }));
  expect(ledger.state).toBe("ok");
  const { salt, erasures, version } = JSON.parse(new TextDecoder().decode(await files.read(PATH)));
  expect(salt).toMatch(/^[0-9a-f]{64}$/);
  expect(version).toBe(1);
  expect(erasures).toEqual([
    {
      id: "e_1",
      app: "fleet",
      device: createHmac("sha256", Buffer.from(salt, "hex")).update("device:fleet\0bus-7").digest("hex"),
      ...{ start: 5, end: 9, sequence: 7, created: 1_795_000_000_000, block: true },
      ...{ state: "pending", finished: null },
    },
  ]);
  const again = await ErasureLedger.open(files.crash(), PATH);
  expect(again.erasures).toEqual(added.ok ? [added.value] : []);
});

test("a ledger finds the erasures of a subject, and of no other", async () => {
  const files = await createFiles();
  const ledger = await ErasureLedger.open(files, PATH);
  for (const [id, subject] of Object.entries({
    a: device("x"),
    b: user("x"),
    c: device("x", "other" as AppId),
    d: device("y"),
    e: device("x"),
  }))
    await ledger.add(erasure(id, subject));
  for (const each of [ledger, await ErasureLedger.open(files, PATH)]) {
    expect(idsOf(each.matches(device("x")))).toEqual(["a", "e"]);
    expect(idsOf(each.matches(user("x")))).toEqual(["b"]);
    expect(idsOf(each.matches(device("x", "other" as AppId)))).toEqual(["c"]);
    expect(each.matches(user("y"))).toEqual([]);
  }
});

test("add() and finish() change nothing when they are repeated, and finish() refuses an unknown id", async () => {
  const files = await createFiles();
  const ledger = await ErasureLedger.open(files, PATH);
  const first = await ledger.add(erasure("a", user("ann")));
  expect(await ledger.add(erasure("a", user("ann"), { sequence: 99 }))).toEqual(first);
  expect(await ledger.finish("b", 5)).toEqual({ ok: false, error: { kind: "erasure_unknown", id: "b" } });
  expect(await ledger.finish("a", 5)).toMatchObject({ ok: true, value: { id: "a", finishedMs: 5 } });
  expect(await ledger.finish("a", 6)).toMatchObject({ ok: true, value: { finishedMs: 5 } });
  expect(await ledger.add(erasure("a", user("ann")))).toMatchObject({ ok: true, value: { finishedMs: 5 } });
  expect((await ErasureLedger.open(files, PATH)).erasures).toEqual(ledger.erasures);
});

test("changes at the same time all count", async () => {
  const files = await createFiles();
  const ledger = await ErasureLedger.open(files, PATH);
  const ids = Array.from({ length: 10 }, (_, index) => `e_${index}`);
  await Promise.all(ids.map((id) => ledger.add(erasure(id, device(id)))));
  await Promise.all(ids.map((id) => ledger.finish(id, 1)));
  expect(idsOf((await ErasureLedger.open(files, PATH)).erasures)).toEqual(ids);
  expect(ledger.erasures.every(({ finishedMs }) => finishedMs === 1)).toBe(true);
});

test("a ledger that can't be written stays as it was", async () => {
  const files = await createFiles();
  const ledger = await ErasureLedger.open(files, PATH);
  await ledger.add(erasure("a", device("x"), { block: true }));
  files.failNext("replace", "ENOSPC");
  expect(await outcome(ledger.add(erasure("b", device("y"), { block: true })))).toThrow(FileError);
  expect(idsOf(ledger.erasures)).toEqual(["a"]);
  expect(ledger.blocked(APP)?.isBlocked("y", null)).toBe(false);
  await ledger.add(erasure("c", device("z")));
  expect(idsOf((await ErasureLedger.open(files, PATH)).erasures)).toEqual(["a", "c"]);
});

test("a ledger that is unreadable or of another version is told apart, and not changed", async () => {
  const salt = "0".repeat(64);
  const line = {
    ...{ id: "a", app: "fleet", user: "f".repeat(64), start: null, end: null, sequence: 1, created: 1 },
    ...{ block: false, state: "pending", finished: null },
  };
  const file = (members: object) => JSON.stringify({ version: 1, salt, erasures: [line], ...members });
  const changed = (members: object) => file({ erasures: [{ ...line, ...members }] });
  const good = await createFiles();
  await good.replace(PATH, new TextEncoder().encode(file({})));
  expect((await ErasureLedger.open(good, PATH)).state).toBe("ok");
  for (const [text, kind] of [
    ["", "ledger_unreadable"],
    ["{}", "ledger_unreadable"],
    [file({ version: 2 }), "ledger_of_other_version"],
    [file({ salt: "0" }), "ledger_unreadable"],
    [file({ erasures: null }), "ledger_unreadable"],
    [file({ erasures: [line, line] }), "ledger_unreadable"],
    [changed({ id: "" }), "ledger_unreadable"],
    [changed({ app: "a/b" }), "ledger_unreadable"],
    [changed({ device: line.user }), "ledger_unreadable"],
    [changed({ user: "f" }), "ledger_unreadable"],
    [changed({ start: "1" }), "ledger_unreadable"],
    [changed({ end: undefined }), "ledger_unreadable"],
    [changed({ sequence: -1 }), "ledger_unreadable"],
    [changed({ block: 1 }), "ledger_unreadable"],
    [changed({ state: "finished" }), "ledger_unreadable"],
    [changed({ finished: 5 }), "ledger_unreadable"],
  ] as const) {
    const files = await createFiles();
    await files.replace(PATH, new TextEncoder().encode(text));
    const ledger = await ErasureLedger.open(files, PATH);
    expect([text, ledger.state]).toMatchObject([text, { kind }]);
    expect(await ledger.add(erasure("b", device("x")))).toMatchObject({ ok: false, error: { kind } });
    expect(await ledger.finish("a", 1)).toMatchObject({ ok: false, error: { kind } });
    expect(new TextDecoder().decode(await files.read(PATH))).toBe(text);
  }
  const files = await createFiles();
  files.failNext("read", "EIO");
  const ledger = await ErasureLedger.open(files, PATH);
  expect(ledger.state).toMatchObject({ kind: "ledger_unreadable", reason: expect.stringContaining(PATH) });
});

test("blocked() answers like a list of the blocked ids, from each block on", async () => {
  const ids = fc.constantFrom("x", "y", "z");
  const apps = fc.constantFrom(APP, "other" as AppId);
  const kinds = fc.constantFrom("device" as const, "user" as const);
  const subjects = fc.record({ kind: kinds, appId: apps, id: ids });
  const story = fc.array(fc.record({ subject: subjects, block: fc.boolean(), isFinished: fc.boolean() }), {
    maxLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(story, async (erasures) => {
      const files = await createFiles();
      const ledger = await ErasureLedger.open(files, PATH);
      const blocked = new Set<string>();
      const expectAlike = (blocks: Blocks) => {
        for (const appId of [APP, "other" as AppId, "third" as AppId])
          for (const deviceId of ["x", "y", "z"])
            for (const userId of ["x", "y", null]) {
              const wanted =
                blocked.has(`device ${appId} ${deviceId}`) || blocked.has(`user ${appId} ${userId}`);
              expect(blocks.blocked(appId)?.isBlocked(deviceId, userId) ?? false).toBe(wanted);
            }
      };
      for (const [index, { subject, block, isFinished }] of erasures.entries()) {
        const { kind, appId, id } = subject;
        await ledger.add(erasure(`e_${index}`, subject, { block }));
        if (isFinished) await ledger.finish(`e_${index}`, 1);
        if (block) blocked.add(`${kind} ${appId} ${id}`);
        expectAlike(ledger);
      }
      expectAlike(await ErasureLedger.open(files, PATH));
    }),
  );
});

test("isBlocked() remembers as many ids as a fleet has, and forgets those asked for longest ago", async () => {
  const ledger = await ErasureLedger.open(await createFiles(), PATH);
  await ledger.add(erasure("a", device("d_3"), { block: true }));
  const fleet = Array.from({ length: 80_000 }, (_, index) => `d_${index}`);
  for (let round = 0; round < 2; round++)
    expect(fleet.filter((id) => ledger.blocked(APP)?.isBlocked(id, null))).toEqual(["d_3"]);
});
