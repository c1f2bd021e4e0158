import { expect, test } from "bun:test";
import { encodeGroup, MessageError } from "../../../../src/cluster/log/group-message.ts";
import type { Result } from "../../../../src/lib/result.ts";
import type { ServiceError } from "../../../../src/model/errors.ts";
import { outcome } from "../../../support/rejection.ts";
import { APP, bodies, refused } from "./fixture.ts";
import { GIVE_UP_MS, openWorld, type TestNode } from "./nodes.ts";

/** Three nodes, whose quarantines are one: what one of them keeps or deletes all of them do. */

async function started(options: Parameters<typeof openWorld>[0] = {}) {
  const world = openWorld(options);
  await world.time.until(Promise.all(world.nodes.map((node) => node.start())));
  const settle = () => world.time.until(world.time.wait(5000));
  return { ...world, settle };
}

function ids(nodes: readonly TestNode[]): string[][] {
  return nodes.map((node) => node.ids());
}

function messageOf(outcome: Result<unknown, ServiceError>): string {
  return outcome.ok ? "ok" : (outcome.error as { message: string }).message;
}

test("what one node keeps is on all of them as it came, and what one deletes is gone from all", async () => {
  const { time, x, y, z, nodes, settle } = await started();
  const hostile = new Uint8Array([0, 1, 2, 255, 254]);
  expect(await time.until(x.put("first", { arrivedMs: 1000 }))).toEqual({ ok: true, value: undefined });
  await time.until(y.put(hostile, { user: "Änna", headers: { "x-limit-u": "u" }, arrivedMs: 2000 }));
  await settle();
  expect(x.shown().map(({ deviceId, arrivedMs }) => [deviceId, arrivedMs])).toEqual([
    ["bytes", 2000],
    ["first", 1000],
  ]);
  for (const node of [y, z]) expect(node.shown()).toEqual(x.shown());
  const [newest] = z.ids();
  expect((await z.quarantine!.find(APP, newest!))!.message).toMatchObject({ user: "Änna", body: hostile });
  expect(await time.until(z.delete(newest!, "no such id"))).toEqual({ ok: true, value: 1 });
  await settle();
  expect(await bodies({ quarantine: x.quarantine! })).toEqual(["first"]);
  expect(ids(nodes)).toEqual([x.ids(), x.ids(), x.ids()]);
  expect(await time.until(x.delete(newest!))).toEqual({ ok: true, value: 0 });
});

test("a put is answered once all nodes will have it", async () => {
  const { time, x } = await started();
  await time.until(x.put("first"));
  const [id] = x.ids();
  await x.kill();
  await time.until(x.start());
  expect(x.ids()).toEqual([id!]);
});

test("what comes again is not sent again, and all nodes know how often it came", async () => {
  const { time, servers, x, y, z, settle } = await started();
  await time.until(x.put("same", { arrivedMs: 1000 }));
  await settle();
  const { lastMessage } = servers.state();
  for (let n = 1; n <= 50; n++) await time.until((n % 2 === 0 ? x : y).put("same", { arrivedMs: 1000 + n }));
  expect(servers.state().lastMessage).toBe(lastMessage);
  await time.until(time.wait(12_000));
  expect(servers.state().lastMessage).toBe(lastMessage + 2);
  expect(x.shown()).toMatchObject([{ count: 51, lastArrivedMs: 1050 }]);
  expect([y.shown(), z.shown()]).toEqual([x.shown(), x.shown()]);
});

test("a body that is longer than a message comes in parts, through restarts in the midst of them", async () => {
  const { time, servers, x, y, z, nodes, settle } = await started({ messageBytesMax: 4096 });
  const body = Uint8Array.from({ length: 100_000 }, (_, at) => at % 251);
  await time.until(y.put("before"));
  await settle();
  const putting = x.put(body);
  await time.until(time.wait(30));
  expect(servers.state().lastMessage).toBeGreaterThan(3); // Some of its parts are there.
  await time.until(y.stop());
  await z.kill();
  await time.until(Promise.all([y.start(), z.start()]));
  expect(messageOf(await time.until(putting, 60_000))).toBe("ok");
  await settle();
  for (const node of nodes) {
    const found = await node.quarantine!.find(APP, node.ids()[0]!);
    expect(found!.message.body).toEqual(body);
  }
});

test("a node that dies in the midst of a long body leaves nothing of it, nor keeps others from theirs", async () => {
  const { time, servers, x, y, z, settle } = await started({ messageBytesMax: 4096 });
  void x.put(new Uint8Array(50_000));
  await time.until(time.wait(20));
  await x.kill();
  const begun = servers.state().lastMessage;
  expect(begun).toBeGreaterThan(1);
  await time.until(x.start());
  await time.until(x.put(new Uint8Array(40_000).fill(1)));
  await time.until(y.put("short"));
  await settle();
  expect(x.shown().map(({ bodyBytes }) => bodyBytes)).toEqual([5, 40_000]);
  expect([y.shown(), z.shown()]).toEqual([x.shown(), x.shown()]);
});

test("a node whose disk refuses has what others took in memory, takes nothing itself, and writes it later", async () => {
  const { time, x, y, settle } = await started();
  await time.until(y.put("first"));
  await settle();
  y.files.capacityBytes = 0;
  expect(messageOf(await time.until(y.put("own")))).toBe("ok"); // It is with the servers.
  expect(messageOf(await time.until(x.put("foreign")))).toBe("ok");
  await settle();
  expect(messageOf(await time.until(y.put("while it is full")))).toBe("the disk is full");
  expect(await bodies({ quarantine: y.quarantine! })).toEqual(["foreign", "own", "first"]);
  expect(y.quarantine!.totals.refused).toBe(1);
  expect(await outcome(y.seal())).toThrow("the disk is full");
  expect(y.floor).toBe(1); // A restart needs it all.
  await y.kill();
  y.files.capacityBytes = Number.POSITIVE_INFINITY;
  await time.until(y.start());
  await settle();
  expect(await bodies({ quarantine: y.quarantine! })).toEqual(["foreign", "own", "first"]);
  expect(messageOf(await time.until(y.put("again")))).toBe("ok");
  await time.until(y.seal());
  expect(y.floor).toBe(5);
  await settle();
  expect(y.shown()).toEqual(x.shown());
});

test("a restart after a seal needs no earlier message, counts none twice, and can end a message that was begun", async () => {
  const { time, servers, x, y, z, settle } = await started({ messageBytesMax: 4096 });
  for (const body of ["a", "b", "c"]) await time.until(x.put(body, { arrivedMs: 5 }));
  await time.until(x.put("b", { arrivedMs: 6 }));
  await time.until(time.wait(12_000));
  const long = x.put(new Uint8Array(50_000));
  while (servers.state().lastMessage < 8) await time.until(time.wait(1));
  const begun = servers.state().lastMessage;
  await time.until(y.seal());
  await y.kill();
  expect(y.floor).toBeGreaterThan(5);
  expect(messageOf(await time.until(long, 60_000))).toBe("ok");
  expect(servers.state().lastMessage).toBeGreaterThan(begun);
  servers.purgeBefore(y.floor);
  await time.until(y.start());
  await z.kill(); // And one that has never sealed needs all of the stream.
  await settle();
  expect(y.shown()).toEqual(x.shown());
  expect(y.shown().map(({ count }) => count)).toEqual([1, 1, 2, 1]);
  expect((await y.quarantine!.find(APP, y.ids()[0]!))!.message.body).toEqual(new Uint8Array(50_000));
});

test("a share is looked at where a message is taken, and what was taken is kept by all", async () => {
  const shares = { keyBytesMax: 4096, appBytesMax: 1 << 20, bytesMax: 1 << 20 };
  const { time, servers, x, y, nodes, settle } = await started({ shares });
  // Room for four of one node's; two nodes can't know of each other in time.
  const outcomes = await time.until(Promise.all([1, 2, 3, 4, 5, 6].map((n) => x.put(`x ${n}`))));
  expect(outcomes.map((outcome) => outcome.ok)).toEqual([true, true, true, true, false, false]);
  expect(messageOf(outcomes[5]!)).toContain("fills its share");
  await settle();
  await time.until(x.delete(...x.ids().slice(0, 1)));
  await settle();
  for (const node of [x, y]) await time.until(node.seal());
  const both = await time.until(Promise.all([x.put("one more"), y.put("and another")]));
  expect(both.map((outcome) => outcome.ok)).toEqual([true, true]);
  await settle();
  expect(ids(nodes)).toEqual([x.ids(), x.ids(), x.ids()]);
  expect(x.ids().length).toBe(5);
  const { lastMessage } = servers.state();
  expect((await time.until(y.put("too much"))).ok).toBe(false);
  expect(servers.state().lastMessage).toBe(lastMessage);
  await time.until(x.delete(...x.ids()));
  await settle();
  await time.until(y.seal()); // Until then the log has what is deleted.
  expect((await time.until(y.put("room again"))).ok).toBe(true);
});

test("of a broker the oldest gives way on every node", async () => {
  const shares = { keyBytesMax: 4096, appBytesMax: 1 << 20, bytesMax: 1 << 20 };
  const { time, x, y, z, nodes, settle } = await started({ shares });
  for (let n = 1; n <= 9; n++) {
    expect((await time.until(nodes[n % 3]!.put(`point ${n}`, { topic: "t", index: null }))).ok).toBe(true);
  }
  await settle();
  expect(await bodies({ quarantine: x.quarantine! })).toEqual(["point 9", "point 8", "point 7", "point 6"]);
  expect([y.ids(), z.ids()]).toEqual([x.ids(), x.ids()]);
});

test("what the servers don't take is refused in time, and what is known needs no servers", async () => {
  const { time, servers, x, settle } = await started();
  await time.until(x.put("known", { arrivedMs: 1 }));
  servers.isFull = true;
  expect(messageOf(await time.until(x.put("a")))).toContain("the disk is full");
  servers.isFull = false;
  x.stream.setCut(true);
  const startedMs = time.nowMs();
  expect(messageOf(await time.until(x.put("b")))).toContain("no majority");
  expect(time.nowMs() - startedMs).toBeLessThanOrEqual(GIVE_UP_MS);
  expect(messageOf(await time.until(x.put("known", { arrivedMs: 2 })))).toBe("ok");
  await time.until(x.stop(), GIVE_UP_MS + 2000);
  await time.until(x.start());
  await settle();
  expect(x.ids().length).toBe(1);
});

test("a start has what the others took meanwhile, even if its disk refuses", async () => {
  const { time, x, y, settle } = await started();
  await time.until(y.stop());
  for (let n = 0; n < 30; n++) await time.until(x.put(`${n}`));
  await time.until(y.start());
  expect(y.ids()).toEqual(x.ids());
  await time.until(y.stop());
  await time.until(x.put("more"));
  y.files.capacityBytes = 0;
  await time.until(y.start());
  expect(y.ids().length).toBe(31);
  y.files.capacityBytes = Number.POSITIVE_INFINITY;
  await settle();
  expect(y.ids()).toEqual(x.ids());
});

test("a message that is damaged stops the node", async () => {
  const empty = encodeGroup([new Uint8Array(40)]);
  for (const bytes of [empty, new Uint8Array(64)]) {
    const { time, servers, x, settle } = await started();
    servers.keepForeign(bytes);
    await settle();
    expect(x.failures).toEqual([expect.any(MessageError)]);
    expect(messageOf(await time.until(x.put("a")))).toContain("can't be written");
  }
});

test("the number of entries in a message is limited, so that decoding is short", async () => {
  const { time, servers, x, y } = await started({ messageBytesMax: 8_000_000 });
  servers.setLeaderless(true);
  const puts = Array.from({ length: 6 }, (_, put) =>
    x.quarantine!.put(Array.from({ length: 400 }, (_, entry) => refused(`${put} ${entry}`))),
  );
  await time.until(time.wait(100));
  servers.setLeaderless(false);
  expect((await time.until(Promise.all(puts))).every(({ ok }) => ok)).toBe(true);
  const entries = servers.messages.map(({ bytes }) => new DataView(bytes.buffer).getUint32(8, true));
  expect(Math.max(...entries)).toBeLessThanOrEqual(1024);
  await time.until(time.wait(2000));
  expect(y.ids()).toHaveLength(2400);
});
