import { expect, test } from "bun:test";
import { ENTRY_LENGTH_BYTES, encodeGroup, MessageError } from "../../../../src/cluster/log/group-message.ts";
import { StreamError } from "../../../../src/cluster/stream/stream.ts";
import { messageOf } from "../../../../src/lib/message-of.ts";
import { FormatVersionError } from "../../../../src/lib/text/versioned-json.ts";
import { NEWEST_KIND } from "../../../../src/model/standing-entry.ts";
import { createEntryEncoder, type LogEntry } from "../../../../src/wal/entry/entry.ts";
import { outcome } from "../../../support/rejection.ts";
import { APP, namedBatch } from "../../wal/fixture.ts";
import { createServers, createTestLog, followed, keepNamed, nameOf } from "./fixture.ts";

async function expectGone(opening: Promise<unknown>, text: string): Promise<void> {
  const error = await opening.then(
    () => null,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(StreamError);
  expect([error.kind, error.message]).toEqual(["gone", expect.stringContaining(text)]);
}

test("openStreamLog() hands over what there is from its first message on, and then follows", async () => {
  const { time, servers } = createServers();
  for (const name of ["a", "b", "c"]) keepNamed(servers, name, `${name}2`);
  const { told, opening } = createTestLog({ servers, time, fromMessage: 2 });
  const { wal, recovery } = await time.until(opening);
  expect(told.replayed).toEqual(["2048 b", "2049 b2", "3072 c", "3073 c2"]);
  const { entries, records, bytes, damage, readUpTo } = recovery;
  expect([entries, records, damage, readUpTo]).toEqual([4, 4, [], Number.POSITIVE_INFINITY]);
  expect(bytes).toBe(servers.messages.slice(1).reduce((sum, message) => sum + message.bytes.length, 0));
  expect([wal.lastSequence, wal.lastMessage, wal.bytes]).toEqual([3073, 3, bytes]);
  const taken = followed(wal);
  keepNamed(servers, "d");
  const appended = wal.append(APP, namedBatch("mine"));
  expect(await time.until(appended)).toEqual({ ok: true, value: 5120 });
  expect(taken).toEqual(["4096 d", "5120 mine (own)"]);
  await time.until(wal.close());
});

test("a kind of entry that a node does not know stops it, at its start or later, before anything is applied", async () => {
  const frame = createEntryEncoder().encode(APP, namedBatch("newer"), ENTRY_LENGTH_BYTES);
  frame[ENTRY_LENGTH_BYTES] = NEWEST_KIND + 1;
  const refusal = `stream wherehouse": expected known kinds of entries, found kind ${NEWEST_KIND + 1}. A newer program`;

  const { time, servers } = createServers();
  keepNamed(servers, "a");
  const running = createTestLog({ servers, time });
  const { wal } = await time.until(running.opening);
  const taken = followed(wal);
  servers.keepForeign(encodeGroup([frame]));
  keepNamed(servers, "b");
  await time.until(wal.append(APP, namedBatch("mine")));
  expect(running.told.failures).toEqual([expect.any(FormatVersionError)]);
  expect(messageOf(running.told.failures[0])).toContain(refusal);
  expect(taken).toEqual([]);

  const starting = createTestLog({ servers, time });
  expect(await time.until(outcome(starting.opening))).toThrow(refusal);
  expect([starting.told.replayed, starting.told.floors]).toEqual([["1024 a"], []]);
});

test("openStreamLog() takes an empty stream, one that was emptied, and one that begins later", async () => {
  for (const [first, kept, from] of [
    [1, 0, 1],
    [1, 3, 4],
    [500, 0, 500],
    [500, 2, 502],
  ] as const) {
    const { time, servers } = createServers(first);
    for (let i = 0; i < kept; i++) keepNamed(servers, `old ${i}`);
    servers.purgeBefore(from);
    const { told, opening } = createTestLog({ servers, time, fromMessage: from });
    const { wal } = await time.until(opening);
    expect([told.replayed, wal.lastSequence, wal.lastMessage]).toEqual([[], from * 1024 - 1, from - 1]);
    const taken = followed(wal);
    await time.until(wal.append(APP, namedBatch("new")));
    expect(taken).toEqual([`${from * 1024} new (own)`]);
    await time.until(wal.close());
  }
});

test("openStreamLog() refuses a stream that has lost its end, of which the archive knows", async () => {
  const { time, servers } = createServers();
  for (const name of ["a", "b", "c"]) keepNamed(servers, name);
  for (const known of [{ fromMessage: 2, coveredSequence: 4 * 1024 + 7 }, { fromMessage: 5 }]) {
    const { opening } = createTestLog({ servers, time, ...known });
    expect(await time.until(opening.catch((error) => error))).toMatchObject({
      kind: "refused",
      message: expect.stringContaining("ends with message 3, but this node knows message 4"),
    });
  }
  const { wal } = await time.until(
    createTestLog({ servers, time, fromMessage: 2, coveredSequence: 3 * 1024 }).opening,
  );
  await time.until(wal.close());
});

test("openStreamLog() refuses a restored stream with other messages in place of applied ones", async () => {
  const { time, servers } = createServers();
  for (const name of ["a", "b", "c", "d"]) keepNamed(servers, name);
  const lastTaken = { number: 3, id: "foreign 3" };
  const outcome = async (fromMessage: number) => {
    const { opening } = createTestLog({ servers, time, fromMessage, lastTaken });
    const opened = await time.until(opening.catch((error: unknown) => error as StreamError));
    if (opened instanceof StreamError) return `${opened.kind}: ${opened.message}`;
    await time.until(opened.wal.close());
    return "opened";
  };
  const message = servers.messages[2]!.bytes;
  expect(await outcome(1)).toBe("opened");
  servers.putBackTo(2);
  expect(await outcome(1)).toContain('refused: The stream "wherehouse" ends with message 2');
  for (const id of ["other 3", "other 4"]) servers.keep(message, id);
  expect(await outcome(1)).toContain('refused: Message 3 of the stream "wherehouse" is not the one');
  expect(await outcome(4)).toContain("refused: Message 3");
  servers.purgeBefore(4); // It can't be compared any more.
  expect(await outcome(4)).toBe("opened");
});

test("openStreamLog() says what is gone, where others have purged it", async () => {
  const { time, servers } = createServers();
  for (const name of ["a", "b", "c"]) keepNamed(servers, name);
  servers.purgeBefore(3);
  await expectGone(
    time.until(createTestLog({ servers, time, fromMessage: 2 }).opening),
    "from message 2 on, but the stream has 3 to 3",
  );
  servers.purgeBefore(4);
  await expectGone(
    time.until(createTestLog({ servers, time, fromMessage: 3 }).opening),
    "but the stream has none",
  );
});

test("openStreamLog() fails where the stream is purged, or made anew, while it reads", async () => {
  for (const spoil of ["purge", "recreate"] as const) {
    const { time, servers } = createServers();
    for (let i = 0; i < 20; i++) keepNamed(servers, `${i}`);
    const { told, opening } = createTestLog({
      servers,
      time,
      onEntry({ sequence }) {
        if (sequence < 3072) return;
        if (spoil === "purge") servers.purgeBefore(10);
        else servers.recreate("2026-02-02T00:00:00Z");
      },
    });
    await expectGone(time.until(opening), spoil === "purge" ? "message 4 was purged" : "created anew");
    expect(told.failures).toEqual([]); // The opening call rejected.
  }
});

test("openStreamLog() rejects for unreadable and for inapplicable messages", async () => {
  const { time, servers } = createServers();
  keepNamed(servers, "a");
  servers.keepForeign(new Uint8Array(64));
  keepNamed(servers, "c");
  const { told, opening } = createTestLog({ servers, time });
  const error = await time.until(opening).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(MessageError);
  expect([told.replayed, told.failures]).toEqual([["1024 a"], []]);
  const broken = createTestLog({
    servers,
    time,
    onEntry() {
      throw new Error("no room");
    },
  });
  expect(await outcome(time.until(broken.opening))).toThrow("no room");
});

test("openStreamLog() ends at what was last when it began, while others go on publishing", async () => {
  const { time, servers } = createServers();
  for (let i = 0; i < 50; i++) keepNamed(servers, `old ${i}`);
  let more = 0;
  const { told, opening } = createTestLog({
    servers,
    time,
    onEntry: () => void keepNamed(servers, `new ${more++}`),
  });
  const { wal, recovery } = await time.until(opening);
  expect([recovery.entries, wal.lastMessage, told.failures]).toEqual([50, 50, []]);
  await time.until(time.wait(100)); // Without a follower, messages wait.
  expect(wal.lastMessage).toBe(50);
  const taken = followed(wal);
  await time.until(time.wait(1000));
  expect(taken).toEqual(Array.from({ length: 50 }, (_, i) => `${(51 + i) * 1024} new ${i}`));
  await time.until(wal.close());
});

test("openStreamLog() waits through a time without a leader and without a connection", async () => {
  const { time, servers } = createServers();
  for (let i = 0; i < 10; i++) keepNamed(servers, `${i}`);
  let replayed = 0;
  const { stream, opening } = createTestLog({
    servers,
    time,
    onEntry({ sequence }) {
      replayed++;
      if (sequence === 3 * 1024) servers.setLeaderless(true);
      if (sequence === 6 * 1024) stream.setCut(true);
    },
  });
  // A start pauses by the real clock, on a busy machine more often.
  const hasReplayed = async (count: number) => {
    do await time.wait(1000);
    while (replayed < count);
    expect(replayed).toBe(count);
  };
  const events = (async () => {
    await hasReplayed(3);
    servers.setLeaderless(false);
    await hasReplayed(6);
    stream.setCut(false);
  })();
  const { wal } = await time.until(opening);
  await time.until(events);
  expect(replayed).toBe(10);
  await time.until(wal.close());
});

test("a start without an answering server is aborted immediately, and leaves nothing running", async () => {
  const { time, servers } = createServers();
  for (let i = 0; i < 4; i++) keepNamed(servers, `${i}`);
  const stopped = new AbortController();
  const { stream, opening, told } = createTestLog({
    servers,
    time,
    signal: stopped.signal,
    onEntry: ({ sequence }) => stream.setCut(sequence === 2 * 1024),
  });
  await time.until(time.wait(60_000));
  stopped.abort();
  const error = await time.until(
    opening.then(
      () => null,
      (reason: unknown) => reason,
    ),
  );
  expect(error).toMatchObject({ kind: "unreachable", message: "The start was broken off." });
  await time.until(time.wait(1000));
  expect([time.planned, told.failures]).toEqual([0, []]);
});

test("openStreamLog() tells of its progress, which ends with all there is to read", async () => {
  const { time, servers } = createServers();
  for (let i = 0; i < 8; i++) keepNamed(servers, `${i}`);
  const told: { replayedBytes: number; totalBytes: number; records: number }[] = [];
  let busyMs = 0;
  const { opening } = createTestLog({
    servers,
    time,
    fromMessage: 5,
    onEntry() {
      busyMs += 12;
    },
    timers: { nowMs: () => time.nowMs() + busyMs, after: (ms, call) => time.after(ms, call) },
    onProgress: (progress) => void told.push(progress),
  });
  const { wal } = await time.until(opening);
  const totalBytes = told[0]!.totalBytes;
  expect(totalBytes).toBe(4 * servers.messages[0]!.bytes.length);
  expect(told.map(({ records }) => records)).toEqual([1, 2, 3, 4]);
  expect(told.at(-1)).toEqual({ replayedBytes: totalBytes, totalBytes, records: 4 });
  await time.until(wal.close());
});

test("a log without a follower can be closed, although a message waits for one", async () => {
  const { time, servers } = createServers();
  const { opening } = createTestLog({ servers, time });
  const { wal } = await time.until(opening);
  keepNamed(servers, "nobody's");
  await time.until(time.wait(50));
  await time.until(wal.close());
  expect([wal.state, wal.lastMessage]).toEqual(["closed", 0]);
});

test("a start ends before an entry that needs a follower, which gets the rest of its message and all later ones", async () => {
  const { time, servers } = createServers();
  for (const names of [["a", "b", "wait"], ["c"]]) keepNamed(servers, ...names);
  const needsFollower = (entry: LogEntry) => nameOf(entry).includes("wait");
  const { told, opening } = createTestLog({ servers, time, needsFollower });
  const { wal } = await time.until(opening);
  await time.pass(100);
  expect([told.replayed, wal.lastSequence, wal.lastMessage]).toEqual([["1024 a", "1025 b"], 1025, 0]);
  const taken = followed(wal);
  await time.pass(100);
  expect([taken, wal.lastSequence, wal.lastMessage]).toEqual([["1026 wait", "2048 c"], 2048, 2]);
  await time.until(wal.close());
});
