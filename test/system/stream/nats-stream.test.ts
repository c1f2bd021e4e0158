import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { DiscardPolicy, jetstreamManager, type StreamConfig } from "@nats-io/jetstream";
import { openNatsStream } from "../../../src/cluster/stream/nats-stream.ts";
import {
  type Stream,
  StreamError,
  type StreamErrorKind,
  type StreamMessage,
  type StreamOptions,
} from "../../../src/cluster/stream/stream.ts";
import { nativeDeno } from "../../support/native-deno.ts";
import { type NatsCluster, startNatsCluster } from "../../support/nats/nats-cluster.ts";
import { hasNatsServer } from "../../support/nats/nats-server.ts";
import { turns } from "../../support/turns.ts";
import { until } from "../../support/until.ts";
import { pause } from "../support/pause.ts";

const CREATE = { firstMessage: 1, bytesMax: 64 * 1024 * 1024 };

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** The kind that it is refused with. */
async function kindOf(promise: Promise<unknown>): Promise<StreamErrorKind | null> {
  try {
    await promise;
    return null;
  } catch (error) {
    if (error instanceof StreamError) return error.kind;
    throw error;
  }
}

/** What a follower was given, and how it ended. */
function collect(stream: Stream, from: number) {
  const controller = new AbortController();
  const messages: StreamMessage[] = [];
  const ended = stream.follow(
    from,
    (message) => {
      messages.push(message);
    },
    controller.signal,
  );
  ended.catch(() => undefined); // Who waits for it is told.
  return {
    messages,
    ended,
    stop() {
      controller.abort();
      return ended;
    },
  };
}

describe.if(hasNatsServer("the tests of streams on NATS"))("a stream on three servers", () => {
  let cluster: NatsCluster;
  const notes: string[] = [];
  beforeAll(async () => {
    cluster = await startNatsCluster({ count: 3 });
  });
  afterAll(() => cluster.close());

  const open = (stream: string, options: Partial<StreamOptions> = {}) =>
    openNatsStream({
      address: { servers: cluster.servers, isSecure: false, stream, credentials: null, authorities: null },
      create: CREATE,
      onNote: (note) => notes.push(note),
      ...options,
    });
  const change = (stream: string, config: Partial<StreamConfig>) =>
    cluster.ask(async (connection) => {
      const manager = await jetstreamManager(connection);
      await manager.streams.add({ subjects: [`${stream}.log`], ...config, name: stream });
    });
  /** What the servers say of the one reader that it has. */
  const readerOf = (stream: string) =>
    cluster.ask(async (connection) => {
      const readers = await (await jetstreamManager(connection)).consumers.list(stream).next();
      expect(readers).toHaveLength(1);
      return readers[0]!;
    });
  const remove = (stream: string) =>
    cluster.ask(async (connection) => (await jetstreamManager(connection)).streams.delete(stream));

  test("follow() hands over what was published, in order and whole, and what is published from then on", async () => {
    const stream = await open("order", { create: { ...CREATE, firstMessage: 100 } });
    expect(await stream.state()).toMatchObject({ firstMessage: 100, lastMessage: 99 });
    const follower = collect(stream, 100);
    await stream.publish(bytesOf("message 0"), "id-0");
    await until(() => follower.messages.length === 1);
    const { name } = await readerOf("order");
    const count = 2000;
    const numbers = await Promise.all(
      Array.from({ length: count }, (_, index) => stream.publish(bytesOf(`message ${index}`), `id-${index}`)),
    );
    await until(() => follower.messages.length === count);
    expect((await readerOf("order")).name).toBe(name); // It was asked many times, and not made anew.
    await follower.stop();
    expect(follower.messages.map(({ number }) => number)).toEqual(
      Array.from({ length: count }, (_, index) => 100 + index),
    );
    for (const [index, number] of numbers.entries()) {
      const { id, bytes } = follower.messages[number - 100]!;
      expect([id, textOf(bytes), bytes.byteOffset % 8]).toEqual([`id-${index}`, `message ${index}`, 0]);
    }
    const later = collect(stream, 2050);
    await until(() => later.messages.length === 50);
    await later.stop();
    expect(later.messages[0]!.number).toBe(2050);
    expect(await stream.state()).toMatchObject({ firstMessage: 100, lastMessage: 2099 });
    await stream.close();
  });

  test("messageId() tells what was published under a number, as far as it is there", async () => {
    const stream = await open("ids");
    for (const id of ["a", "b", "c"]) await stream.publish(bytesOf("same"), id);
    await stream.purgeBefore(2);
    const ids = await Promise.all([1, 2, 3, 4].map((number) => stream.messageId(number)));
    expect(ids).toEqual([null, "b", "c", null]);
    await stream.close();
  });

  test("publish() under an id that was there gives the first number, also on another connection", async () => {
    const stream = await open("repeat");
    expect(await stream.publish(bytesOf("one"), "a")).toBe(1);
    expect(await stream.publish(bytesOf("two"), "b")).toBe(2);
    const other = await open("repeat", { create: null });
    expect(other.created).toBe(stream.created);
    expect(await other.publish(bytesOf("one"), "a")).toBe(1);
    expect((await stream.state()).lastMessage).toBe(2);
    await other.close();
    await stream.close();
  });

  test("publish() takes as many bytes as it says and refuses more", async () => {
    const stream = await open("large");
    const largest = new Uint8Array(stream.messageBytesMax).fill(1);
    expect(largest.length).toBeGreaterThan(8_000_000);
    for (const id of ["a", "b", "c"]) await stream.publish(largest, id);
    expect(await kindOf(stream.publish(new Uint8Array(8 * 1024 * 1024), "d"))).toBe("refused");
    const follower = collect(stream, 1);
    await until(() => follower.messages.length === 3);
    await follower.stop();
    expect(follower.messages.every(({ bytes }) => Buffer.compare(bytes, largest) === 0)).toBeTrue();
    await stream.close();
  });

  test("a stream that is full takes nothing, and keeps what it has", async () => {
    const stream = await open("full", { create: { firstMessage: 1, bytesMax: 100_000 } });
    let count = 0;
    let kind: StreamErrorKind | null = null;
    while (kind === null && count < 100)
      kind = await kindOf(stream.publish(new Uint8Array(10_000), `${count++}`));
    expect(kind).toBe("full");
    expect(await stream.state()).toMatchObject({ firstMessage: 1, lastMessage: count - 1 });
    await stream.purgeBefore(5);
    expect(await stream.publish(new Uint8Array(10_000), "later")).toBe(count);
    await stream.close();
  });

  test("who needs messages that were purged is told so, and numbers go on after a purge", async () => {
    const stream = await open("purge");
    for (let index = 0; index < 10; index++) await stream.publish(bytesOf("x"), `${index}`);
    await stream.purgeBefore(6);
    expect(await stream.state()).toMatchObject({ firstMessage: 6, lastMessage: 10 });
    expect(await kindOf(collect(stream, 5).ended)).toBe("gone");
    const follower = collect(stream, 6);
    await until(() => follower.messages.length === 5);
    await stream.purgeBefore(1000);
    expect(await stream.state()).toMatchObject({ firstMessage: 11, lastMessage: 10 });
    expect(await stream.publish(bytesOf("x"), "next")).toBe(11);
    await until(() => follower.messages.length === 6);
    await follower.stop();
    await stream.close();
  });

  test("a stream that was created anew under its name is gone, for followers and for questions", async () => {
    const stream = await open("anew");
    await stream.publish(bytesOf("x"), "1");
    const follower = collect(stream, 1);
    await until(() => follower.messages.length === 1);
    await remove("anew");
    const other = await open("anew");
    await other.publish(bytesOf("of another"), "2");
    expect(await kindOf(follower.ended)).toBe("gone");
    expect(follower.messages).toHaveLength(1);
    expect(other.created).not.toBe(stream.created);
    expect(await kindOf(stream.state())).toBe("gone");
    await remove("anew");
    expect(await kindOf(other.state())).toBe("gone");
    expect(await kindOf(open("anew", { create: null }))).toBe("gone");
    await other.close();
    await stream.close();
  });

  test("a stream that would lose messages is refused, with what to change", async () => {
    const good = { num_replicas: 3, discard: DiscardPolicy.New, max_bytes: 1_000_000 };
    const wrong: readonly [string, Partial<StreamConfig>, string][] = [
      ["aged", { ...good, max_age: 3600e9 }, "max_age"],
      ["old", { ...good, discard: DiscardPolicy.Old }, "discard"],
      ["memory", { ...good, storage: "memory" }, "file storage"],
      ["single", { ...good, num_replicas: 1 }, "num_replicas to 3"],
      ["subjects", { ...good, subjects: ["subjects.log", "subjects.other"] }, "subjects"],
      ["forgetful", { ...good, duplicate_window: 1e9 }, "duplicate_window"],
      ["few", { ...good, max_msgs_per_subject: 5 }, "max_msgs_per_subject"],
      ["mute", { ...good, no_ack: true }, "no_ack"],
      ["rolled", { ...good, allow_rollup_hdrs: true }, "allow_rollup_hdrs"],
      ["mortal", { ...good, allow_msg_ttl: true }, "allow_msg_ttl"],
    ];
    for (const [name, config, words] of wrong) {
      await change(name, config);
      const failure = await open(name).then(
        () => null,
        (error: unknown) => error,
      );
      expect(failure, name).toBeInstanceOf(StreamError);
      expect((failure as StreamError).kind, name).toBe("refused");
      expect((failure as StreamError).message, name).toContain(words);
    }
    await change("good", good);
    await (await open("good", { create: null })).close();
  });

  test("a stream with a hole ends its followers there, and skips nothing", async () => {
    await change("hole", { num_replicas: 3, discard: DiscardPolicy.New, deny_delete: false });
    const stream = await open("hole");
    for (let index = 1; index <= 5; index++) await stream.publish(bytesOf("x"), `${index}`);
    await cluster.ask(async (connection) =>
      (await jetstreamManager(connection)).streams.deleteMessage("hole", 3),
    );
    const follower = collect(stream, 1);
    expect(await kindOf(follower.ended)).toBe("gone");
    expect(follower.messages.map(({ number }) => number)).toEqual([1, 2]);
    await stream.close();
  });

  test.each([
    ["one of its own", new Error("can't be decoded")],
    ["one of another stream", new StreamError("unreachable", "of another stream")],
  ])("a follower whose work fails ends with that failure, %s", async (_, failure) => {
    const stream = await open("failing");
    await stream.publish(bytesOf("x"), "1");
    await stream.publish(bytesOf("x"), "2");
    let count = 0;
    const ended = stream.follow(
      1,
      () => {
        count++;
        return Promise.reject(failure);
      },
      new AbortController().signal,
    );
    expect(await ended.catch((error: unknown) => error)).toBe(failure);
    expect(count).toBe(1);
    await stream.close();
  });

  test("follow() reads ahead no more than a bound while the work goes on", async () => {
    const stream = await open("bounded", { create: { firstMessage: 1, bytesMax: 1024 * 1024 * 1024 } });
    const body = new Uint8Array(1024 * 1024);
    for (let index = 0; index < 60; index++) await stream.publish(body, `${index}`);
    const { promise, resolve } = Promise.withResolvers<void>();
    const seen: number[] = [];
    const controller = new AbortController();
    const reader = await open("bounded");
    const ended = reader.follow(
      1,
      ({ number }) => {
        seen.push(number);
        return promise;
      },
      controller.signal,
    );
    await until(() => seen.length === 1);
    // The servers send on while they answer these, as far as the reader lets them.
    for (let question = 0; question < 300; question++) await stream.state();
    const { delivered, name } = await readerOf("bounded");
    expect(delivered.stream_seq).toBeLessThan(30);
    resolve();
    await until(() => seen.length === 60);
    expect((await readerOf("bounded")).name).toBe(name); // It was asked many times, and not made anew.
    controller.abort();
    await ended;
    await reader.close();
    await stream.close();
  });

  test("follow() lets go of what was taken, however long the servers are ahead of the work", async () => {
    const stream = await open("forget");
    const count = 1600;
    const body = new Uint8Array(1000);
    await Promise.all(Array.from({ length: count }, (_, index) => stream.publish(body, `id-${index}`)));
    const taken: WeakRef<Uint8Array>[] = [];
    const controller = new AbortController();
    await stream.follow(
      1,
      async ({ bytes, number }) => {
        taken.push(new WeakRef(bytes));
        if (number % 50 === 0) await pause(5); // So that more has come before the last one is taken.
        if (number === 1000) controller.abort();
        if (controller.signal.aborted) Bun.gc(true);
      },
      controller.signal,
    );
    expect(taken.filter((message) => message.deref() !== undefined).length).toBeLessThan(100);
    await stream.close();
  });

  test("follow() and watch() end at once when they are aborted while no server answers", async () => {
    const alone = await startNatsCluster({ count: 1 });
    const lost: string[] = [];
    const address = { servers: alone.servers, isSecure: false, credentials: null, authorities: null };
    const stream = await openNatsStream({
      address: { ...address, stream: "left" },
      create: CREATE,
      onNote: (note) => lost.push(note),
    });
    const bucket = await stream.bucket("left-nodes");
    const controller = new AbortController();
    const follower = collect(stream, 1);
    const watching = bucket.watch(() => undefined, controller.signal);
    await stream.publish(bytesOf("x"), "1");
    await until(() => follower.messages.length === 1);
    await alone.close();
    await until(() => lost.length > 0);
    await pause(2000); // How long the servers are away: questions under way come to their end.
    controller.abort();
    let isOver = false;
    const ended = Promise.all([follower.stop(), watching]).then(() => {
      isOver = true;
    });
    await turns(); // No timer is waited for.
    expect(isOver).toBe(true);
    await ended;
    await stream.close();
  });

  test.each(["Bun", "Deno"])("all of it works on %s", async (runtime) => {
    const script = join(import.meta.dir, "stream-user.ts");
    const command =
      runtime === "Bun" ? [process.execPath, script] : [nativeDeno(), "run", "--allow-all", script];
    const child = Bun.spawn([...command, cluster.servers.join(","), `on-${runtime}`, "3000", "5000"], {
      stdout: "pipe",
      stderr: "inherit",
    });
    const said = JSON.parse((await new Response(child.stdout).text()) || "null");
    expect(said).toMatchObject({ followed: 3000, isRight: true, revision: 1, value: "here" });
    expect(await child.exited).toBe(0);
  });
});
