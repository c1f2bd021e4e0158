import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { DiscardPolicy, jetstreamManager, type StreamConfig } from "@nats-io/jetstream";
import { openNatsStream } from "../../../src/cluster/stream/nats-stream.ts";
import { type Bucket, type Stream, StreamError } from "../../../src/cluster/stream/stream.ts";
import { type NatsCluster, startNatsCluster } from "../../support/nats/nats-cluster.ts";
import { hasNatsServer } from "../../support/nats/nats-server.ts";
import { until } from "../../support/until.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);

/** What a watcher was told, as `key=value`, or `key gone`. */
function watch(bucket: Bucket) {
  const controller = new AbortController();
  const told: string[] = [];
  const ended = bucket.watch(
    (key, entry) => told.push(entry === null ? `${key} gone` : `${key}=${textOf(entry.value)}`),
    controller.signal,
  );
  ended.catch(() => undefined); // Who waits for it is told.
  return {
    told,
    ended,
    stop() {
      controller.abort();
      return ended;
    },
  };
}

describe.if(hasNatsServer("the tests of buckets on NATS"))("a bucket on three servers", () => {
  let cluster: NatsCluster;
  let streams: Stream[] = [];
  beforeAll(async () => {
    cluster = await startNatsCluster({ count: 3 });
  });
  afterAll(() => cluster.close());
  beforeEach(() => {
    streams = [];
  });
  afterEach(() => Promise.all(streams.map((stream) => stream.close())));

  async function open(): Promise<Stream> {
    const stream = await openNatsStream({
      address: {
        servers: cluster.servers,
        isSecure: false,
        stream: "wherehouse",
        credentials: null,
        authorities: null,
      },
      create: { firstMessage: 1, bytesMax: 1_000_000 },
      onNote: () => undefined,
    });
    streams.push(stream);
    return stream;
  }

  const kindOf = (promise: Promise<unknown>) =>
    promise.then(
      () => null,
      (error: unknown) => {
        if (error instanceof StreamError) return error.kind;
        throw error;
      },
    );

  test("keeps values by name for all nodes, and has as many replicas as the stream", async () => {
    const bucket = await (await open()).bucket("values");
    expect(await bucket.get("keys.json")).toBeNull();
    const revision = await bucket.put("keys.json", bytesOf("{}"));
    const others = await (await open()).bucket("values");
    const { writtenMs, ...entry } = (await others.get("keys.json"))!;
    expect(entry).toEqual({ key: "keys.json", value: bytesOf("{}"), revision });
    expect(Math.abs(writtenMs - Date.now())).toBeLessThan(60_000);
    await others.put("session-secret", new Uint8Array([0, 255, 7]));
    await others.put("keys.json", bytesOf("[]"));
    expect((await bucket.entries()).map(({ key, value }) => [key, [...value]])).toEqual([
      ["keys.json", [...bytesOf("[]")]],
      ["session-secret", [0, 255, 7]],
    ]);
    await bucket.delete("keys.json");
    expect(await others.get("keys.json")).toBeNull();
    expect((await others.entries()).map(({ key }) => key)).toEqual(["session-secret"]);
    await cluster.whole("KV_values");
  });

  test("is there for all who make it at once, or not yet", async () => {
    const streams = await Promise.all(Array.from({ length: 6 }, () => open()));
    for (let round = 0; round < 8; round++) {
      const opened = await Promise.all(streams.map((stream) => kindOf(stream.bucket(`new-${round}`))));
      expect(opened.filter((kind) => kind !== null && kind !== "unreachable")).toEqual([]);
    }
  });

  test("update() writes where nobody else has written meanwhile, and else tells of a conflict", async () => {
    const bucket = await (await open()).bucket("updates");
    const first = await bucket.update("keys", bytesOf("1"), 0);
    expect(await kindOf(bucket.update("keys", bytesOf("other"), 0))).toBe("conflict");
    const second = await bucket.update("keys", bytesOf("2"), first);
    expect(await kindOf(bucket.update("keys", bytesOf("other"), first))).toBe("conflict");
    expect(await bucket.get("keys")).toMatchObject({ value: bytesOf("2"), revision: second });
    await bucket.delete("keys");
    expect(await kindOf(bucket.update("keys", bytesOf("other"), second))).toBe("conflict");
    await bucket.update("keys", bytesOf("again"), 0);

    // Of many who write at once one has its way each time.
    const counts = await Promise.all(
      Array.from({ length: 8 }, async (_, writer) => {
        const own = await (await open()).bucket("updates");
        for (let tries = 1; ; tries++) {
          const entry = await own.get("sum");
          const list = entry === null ? [] : (JSON.parse(textOf(entry.value)) as number[]);
          const value = bytesOf(JSON.stringify([...list, writer]));
          if ((await kindOf(own.update("sum", value, entry?.revision ?? 0))) === null) return tries;
        }
      }),
    );
    const writers = JSON.parse(textOf((await bucket.get("sum"))?.value)) as number[];
    expect(writers.sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(Math.max(...counts)).toBeGreaterThan(1);
  });

  test("watch() tells of all there is, then of each change, and of values that end by themselves", async () => {
    const bucket = await (await open()).bucket("watched", { ttlMs: 4000 });
    await bucket.put("a", bytesOf("1"));
    await bucket.put("b", bytesOf("1"));
    await bucket.put("c", bytesOf("1"));
    await bucket.delete("c");
    const watcher = watch(await (await open()).bucket("watched", { ttlMs: 4000 }));
    await until(() => watcher.told.length >= 2);
    expect(watcher.told).toEqual(["a=1", "b=1"]);
    await bucket.put("a", bytesOf("2"));
    await bucket.delete("b");
    await bucket.delete("never-there");
    await until(() => watcher.told.length >= 4);
    expect(watcher.told.slice(2)).toEqual(["a=2", "b gone"]);
    await until(() => watcher.told.length >= 5);
    expect(watcher.told.slice(4)).toEqual(["a gone"]); // By its age.
    expect(await bucket.get("a")).toBeNull();
    await bucket.update("a", bytesOf("3"), 0);
    await until(() => watcher.told.length >= 6);
    expect(watcher.told[5]).toBe("a=3");
    await watcher.stop();
  });

  test("a bucket that would lose values is refused, and one that was removed is gone, also for who writes", async () => {
    const stream = await open();
    const change = (config: Partial<StreamConfig> & { readonly name: string }) =>
      cluster.ask(async (connection) => (await jetstreamManager(connection)).streams.add(config));
    const kept = { num_replicas: 3, max_msgs_per_subject: 1, discard: DiscardPolicy.New };
    await change({ ...kept, name: "KV_aging", subjects: ["$KV.aging.>"], max_age: 3_600_000_000_000 });
    await change({ ...kept, name: "KV_few", subjects: ["$KV.few.>"], max_msgs: 10 });
    await change({ ...kept, name: "KV_old", subjects: ["$KV.old.>"], discard: DiscardPolicy.Old });
    for (const name of ["aging", "few", "old"])
      expect(await kindOf(stream.bucket(name)), name).toBe("refused");
    const bucket = await stream.bucket("removed");
    await cluster.ask(async (connection) =>
      (await jetstreamManager(connection)).streams.delete("KV_removed"),
    );
    expect(await kindOf(bucket.put("a", bytesOf("1")))).toBe("gone");
    expect(await kindOf(stream.bucket("removed", { mustExist: true }))).toBe("gone");
    expect(await kindOf(stream.bucket("removed", { mustExist: true }))).toBe("gone"); // It was not made.
    for (const name of ["aging", "few"])
      expect(await kindOf(stream.bucket(name, { mustExist: true })), name).toBe("refused");
    await stream.bucket("removed");
    const found = await stream.bucket("removed", { mustExist: true });
    await found.put("a", bytesOf("2"));
    expect(textOf((await found.get("a"))?.value)).toBe("2");
  });

  test("a watcher whose server is killed misses nothing, whatever was changed meanwhile", async () => {
    const bucket = await (await open()).bucket("killed");
    for (const key of ["a", "b", "c"]) await bucket.put(key, bytesOf("1"));
    const watcher = watch(await (await open()).bucket("killed"));
    await until(() => watcher.told.length === 3);
    const [server] = await cluster.readerServersOf("KV_killed");
    await cluster.kill(server!);
    const write = async (change: () => Promise<unknown>) => {
      await until(async () => (await kindOf(change())) !== "unreachable");
    };
    await write(() => bucket.put("a", bytesOf("2")));
    await write(() => bucket.delete("b"));
    await write(() => bucket.put("d", bytesOf("2")));
    await until(() => watcher.told.length >= 6);
    expect(watcher.told.slice(3).sort()).toEqual(["a=2", "b gone", "d=2"]);
    cluster.restart(server!);
    await cluster.whole("KV_killed");
    await bucket.put("c", bytesOf("2"));
    await until(() => watcher.told.length >= 7);
    expect(watcher.told[6]).toBe("c=2");
    await watcher.stop();
  });
});
