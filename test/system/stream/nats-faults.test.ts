import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { openNatsStream } from "../../../src/cluster/stream/nats-stream.ts";
import { type Stream, StreamError } from "../../../src/cluster/stream/stream.ts";
import { type NatsCluster, startNatsCluster } from "../../support/nats/nats-cluster.ts";
import { hasNatsServer } from "../../support/nats/nats-server.ts";
import { until } from "../../support/until.ts";
import { pause } from "../support/pause.ts";

/*
 * Goal: whatever becomes of one server, nothing that was acknowledged is missing, nothing comes twice, and what is
 * published goes on within seconds. Method: one writes numbered messages, each until it is acknowledged, while another
 * follows; a server is killed or stopped, and comes back.
 */

/** Each message until it is acknowledged, as a node does it. */
class Writer {
  /** The number that each was acknowledged with. */
  readonly numbers: number[] = [];
  #isStopped = false;
  readonly #stream: Stream;
  readonly #done: Promise<void>;

  constructor(stream: Stream) {
    this.#stream = stream;
    this.#done = this.#write(stream);
  }

  async #write(stream: Stream): Promise<void> {
    while (!this.#isStopped) {
      const index = this.numbers.length;
      for (let isTaken = false; !isTaken; ) {
        try {
          this.numbers.push(
            await stream.publish(new TextEncoder().encode(`message ${index}`), `id-${index}`),
          );
          isTaken = true;
        } catch (error) {
          if (!(error instanceof StreamError) || error.kind !== "unreachable") throw error;
        }
      }
      await pause(5);
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#done;
    await this.#stream.close();
  }

  /** Resolves once so many more are acknowledged. */
  async more(count: number): Promise<void> {
    const wanted = this.numbers.length + count;
    await until(() => this.numbers.length >= wanted);
  }
}

function follow(stream: Stream) {
  const controller = new AbortController();
  const messages: { readonly number: number; readonly text: string }[] = [];
  const ended = stream.follow(
    1,
    ({ number, bytes }) => {
      messages.push({ number, text: new TextDecoder().decode(bytes) });
    },
    controller.signal,
  );
  ended.catch(() => undefined); // Who waits for it is told.
  return {
    messages,
    stop() {
      controller.abort();
      return ended;
    },
  };
}

/** What an answer about the stream says of its leader: null where there is none, and yet an answer. */
function toldLeaderOf(stream: string) {
  return async (connection: NatsConnection) => {
    const manager = await jetstreamManager(connection, { checkAPI: false, timeout: 1000 });
    return (await manager.streams.info(stream)).cluster?.leader ?? null;
  };
}

describe.if(hasNatsServer("the tests of streams whose servers fail"))("while a server fails", () => {
  let cluster: NatsCluster;
  const notes: string[] = [];
  beforeAll(async () => {
    cluster = await startNatsCluster({ count: 3 });
  });
  afterAll(() => cluster.close());
  afterEach(() => {
    notes.length = 0;
  });

  /** A server that has come back may be thought to be away for some seconds more, and a stream needs all three. */
  async function open(stream: string): Promise<Stream> {
    let opened: Stream | null = null;
    await until(async () => {
      try {
        opened = await openNatsStream({
          address: {
            servers: cluster.servers,
            isSecure: false,
            stream,
            credentials: null,
            authorities: null,
          },
          create: { firstMessage: 1, bytesMax: 64 * 1024 * 1024 },
          onNote: (note) => notes.push(note),
        });
      } catch (error) {
        if (!(error instanceof StreamError) || error.kind !== "unreachable") throw error;
      }
      return opened !== null;
    });
    return opened!;
  }

  /** Fails a server while one writes and one follows; both go on, and what they have at the end is the same. */
  async function survive(name: string, fail: () => Promise<() => void>): Promise<void> {
    const stream = await open(name);
    const follower = follow(stream);
    const writer = new Writer(await open(name));
    await until(() => follower.messages.length > 50);
    const heal = await fail();
    await writer.more(100);
    await until(() => follower.messages.length > writer.numbers.length - 20); // While it has not healed.
    heal();
    await cluster.whole(name);
    await writer.more(50);
    await writer.stop();
    await until(() => follower.messages.length >= writer.numbers.length);
    await follower.stop();
    expect(follower.messages.map(({ text }) => text)).toEqual(
      writer.numbers.map((_, index) => `message ${index}`),
    );
    expect(follower.messages.map(({ number }) => number)).toEqual(writer.numbers);
    expect((await stream.state()).lastMessage).toBe(writer.numbers.at(-1)!);
    await stream.close();
  }

  const kill = async (server: number) => {
    await cluster.kill(server);
    return () => cluster.restart(server);
  };
  const stop = async (server: number) => {
    cluster.stop(server);
    return () => cluster.continue(server);
  };

  test("that leads the stream: it is killed", async () => {
    await survive("leader-killed", async () => kill((await cluster.leaderOf("leader-killed"))!));
  });

  test("that leads the stream: it stops and keeps its connections", async () => {
    await survive("leader-stopped", async () => stop((await cluster.leaderOf("leader-stopped"))!));
  });

  test("that keeps the reader: it is killed", async () => {
    await survive("reader-killed", async () => kill((await cluster.readerServersOf("reader-killed"))[0]!));
  });

  test("that keeps the reader: it stops and keeps its connections", async () => {
    await survive("reader-stopped", async () => stop((await cluster.readerServersOf("reader-stopped"))[0]!));
  });

  test("and another: nothing is taken, and both go on after", async () => {
    const stream = await open("majority");
    const follower = follow(stream);
    expect(await stream.publish(new Uint8Array(1), "first")).toBe(1);
    const others = [1, 2];
    for (const server of others) await cluster.kill(server);
    const failure = await stream.publish(new Uint8Array(1), "second").catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StreamError);
    expect((failure as StreamError).kind).toBe("unreachable");
    // The one that is left answers with its own copy, though nobody can tell whether that is all.
    await until(async () => (await cluster.ask(toldLeaderOf("majority")).catch(() => "none told")) === null);
    const asked = await stream.state().catch((error: unknown) => error);
    expect([asked, (asked as StreamError).kind]).toEqual([expect.any(StreamError), "unreachable"]);
    for (const server of others) cluster.restart(server);
    await cluster.whole("majority");
    const number = await stream.publish(new Uint8Array(1), "second");
    expect(number).toBe(2);
    await until(() => follower.messages.length === number);
    await follower.stop();
    await stream.close();
  });
});
