import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { credsAuthenticator, nkeys } from "@nats-io/transport-node";
import { openNatsStream } from "../../../src/cluster/stream/nats-stream.ts";
import { type StreamAddress, StreamError } from "../../../src/cluster/stream/stream.ts";
import { nativeDeno } from "../../support/native-deno.ts";
import {
  type NatsCluster,
  type NatsClusterOptions,
  startNatsCluster,
} from "../../support/nats/nats-cluster.ts";
import { hasNatsServer } from "../../support/nats/nats-server.ts";
import { hasProgram } from "../../support/programs.ts";
import { until } from "../../support/until.ts";
import { makeCertificates } from "../mqtt/support/certificates.ts";

const CLEAR = { isSecure: false, stream: "wherehouse", credentials: null, authorities: null };

/** The system account tells the others how its servers are set up, as deploy/cluster has it. */
const TELLING = `
accounts {
  SYS { users: [{ user: sys, password: sys }]
        exports: [{ service: "$SYS.REQ.SERVER.PING.JSZ", response_type: stream }] }
  APP { jetstream: enabled, users: [{ user: app, password: "secret word" }]
        imports: [{ service: { account: SYS, subject: "$SYS.REQ.SERVER.PING.JSZ" } }] }
}
system_account: SYS
`;
const LOGIN = { user: "app", pass: "secret word" };
const APP = { kind: "user", user: "app", password: "secret word" } as const;

/** Opens it, closes it, and says what became of it. */
async function tryToOpen(address: StreamAddress): Promise<{ notes: string[]; failure: StreamError | null }> {
  const notes: string[] = [];
  try {
    const stream = await openNatsStream({
      address,
      create: { firstMessage: 1, bytesMax: 1_000_000 },
      onNote: (note) => notes.push(note),
    });
    expect(await stream.publish(new Uint8Array(3), crypto.randomUUID())).toBeGreaterThan(0);
    const bucket = await stream.bucket("wherehouse-nodes");
    await bucket.put("me", new Uint8Array(1));
    await stream.close();
    return { notes, failure: null };
  } catch (error) {
    if (!(error instanceof StreamError)) throw error;
    return { notes, failure: error };
  }
}

test("a server that is too old is refused, and one that is not there can't be reached", async () => {
  const server = createServer((socket) => {
    socket.write(
      `INFO {"server_id":"x","server_name":"old","version":"2.9.10","proto":1,"headers":true,"max_payload":1048576}\r\n`,
    );
    socket.on("data", (bytes) => {
      if (bytes.includes("PING")) socket.write("PONG\r\n");
    });
    socket.on("error", () => undefined); // The client may be gone first.
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const servers = [`127.0.0.1:${(server.address() as { port: number }).port}`];
  const { failure } = await tryToOpen({ ...CLEAR, servers });
  expect(failure?.kind).toBe("refused");
  expect(failure?.message).toBe("The NATS server old is of version 2.9.10: at least 2.15.0 is needed.");
  await new Promise((resolve) => server.close(resolve));
  const later = await tryToOpen({ ...CLEAR, servers });
  expect(later.failure?.kind).toBe("unreachable");
  expect(later.failure?.message).toContain(servers[0]!);
});

const SETUPS = "the tests of how streams on NATS are set up";

describe.if(hasNatsServer(SETUPS) && hasProgram("openssl", SETUPS))("a single server", () => {
  let cluster: NatsCluster | null = null;
  let directory: string | null = null;
  afterEach(async () => {
    await cluster?.close();
    cluster = null;
    if (directory !== null) rmSync(directory, { recursive: true });
    directory = null;
  });

  async function start(options: Omit<NatsClusterOptions, "count">): Promise<readonly string[]> {
    cluster = await startNatsCluster({ count: 1, ...options });
    return cluster.servers;
  }

  test("has one replica of each, and that it may not be asked how it syncs is said once", async () => {
    const servers = await start({});
    const { failure, notes } = await tryToOpen({ ...CLEAR, servers });
    expect(failure).toBeNull();
    expect(notes).toEqual([expect.stringContaining("sync_interval: always")]);
  });

  test("that syncs always and says so is taken without a word, with the right password alone", async () => {
    const servers = await start({ lines: [TELLING], login: LOGIN });
    expect(await tryToOpen({ ...CLEAR, servers, credentials: APP })).toEqual({ notes: [], failure: null });
    for (const credentials of [null, { ...APP, password: "wrong" }]) {
      const { failure } = await tryToOpen({ ...CLEAR, servers, credentials });
      expect(failure?.kind).toBe("refused");
      expect(failure?.message).not.toContain("wrong");
      expect(failure?.message).toContain("WHEREHOUSE_NATS_PASSWORD");
    }
  });

  test("that syncs every two minutes and says so is refused", async () => {
    const servers = await start({ lines: [TELLING], sync: "2m", login: LOGIN });
    const { failure } = await tryToOpen({ ...CLEAR, servers, credentials: APP });
    expect(failure?.kind).toBe("refused");
    expect(failure?.message).toContain(
      'The NATS server n1 does not sync what it acknowledges: set "sync_interval',
    );
  });

  test("that comes back syncing every two minutes is given nothing, until it syncs always again", async () => {
    const servers = await start({ lines: [TELLING], login: LOGIN });
    const notes: string[] = [];
    const stream = await openNatsStream({
      address: { ...CLEAR, servers, credentials: APP },
      create: { firstMessage: 1, bytesMax: 1_000_000 },
      onNote: (note) => notes.push(note),
    });
    const { messageBytesMax } = stream;
    const comeBack = async (sync: string) => {
      await cluster!.kill(0);
      cluster!.restart(0, sync);
      let isWhole = false;
      const whole = cluster!.whole("wherehouse").finally(() => {
        isWhole = true;
      });
      await until(() => {
        expect(stream.messageBytesMax).toBe(messageBytesMax);
        return isWhole;
      });
      await whole;
    };
    const publish = (id: string): Promise<number | StreamError> =>
      stream.publish(new Uint8Array(3), id).catch((error) => {
        return error.kind === "unreachable" ? publish(id) : error; // It may not have found the server yet.
      });
    expect(await publish("a")).toBe(1);
    await comeBack("2m");
    expect(await publish("b")).toMatchObject({ kind: "refused" });
    expect(notes.join()).toContain("does not sync what it acknowledges");
    await comeBack("always");
    await until(async () => (await publish("b")) === 2);
    await stream.close();
  });

  test("whose stream somebody has set to lose messages is given nothing once that is seen", async () => {
    const servers = await start({});
    const stream = await openNatsStream({
      address: { ...CLEAR, servers },
      create: { firstMessage: 1, bytesMax: 1_000_000 },
      onNote: () => undefined,
    });
    expect(await stream.publish(new Uint8Array(3), "a")).toBe(1);
    await cluster!.ask(async (connection) => {
      const manager = await jetstreamManager(connection);
      await manager.streams.update("wherehouse", { max_age: 3600e9 });
    });
    await cluster!.kill(0);
    cluster!.restart(0);
    await cluster!.whole("wherehouse");
    let number = 0;
    await until(async () => {
      const refused = await stream.publish(new Uint8Array(3), `${number++}`).catch((error) => error);
      return (
        refused instanceof StreamError && refused.kind === "refused" && refused.message.includes("max_age")
      );
    });
    await stream.close();
  });

  test("that lost the end of the stream, and gave its numbers again, ends those who knew it", async () => {
    const servers = await start({});
    const open = () =>
      openNatsStream({
        address: { ...CLEAR, servers },
        create: { firstMessage: 1, bytesMax: 1_000_000 },
        onNote: () => undefined,
      });
    const follower = await open();
    const seen: string[] = [];
    const following = follower.follow(1, ({ id }) => void seen.push(id), new AbortController().signal);
    const ended = following.catch((error: unknown) => error);
    const publish = async (ids: readonly string[]) => {
      const writer = await open();
      for (const id of ids) await writer.publish(new Uint8Array(3), id);
      await writer.close();
    };
    await publish(["1", "2"]);
    await cluster!.kill(0);
    const putBack = cluster!.keepStore(0);
    cluster!.restart(0);
    await cluster!.whole("wherehouse");
    await publish(["3", "4"]);
    await until(() => seen.length === 4);
    await cluster!.kill(0);
    putBack();
    cluster!.restart(0);
    await cluster!.whole("wherehouse");
    await publish(["other 3", "other 4", "other 5"]);
    expect(await ended).toMatchObject({ kind: "gone", message: expect.stringContaining("Message 4") });
    expect(seen).toEqual(["1", "2", "3", "4"]);
    await follower.close();
  });

  test("takes a token", async () => {
    const servers = await start({ lines: ["authorization { token: s3cret }"], login: { token: "s3cret" } });
    const credentials = { kind: "token", token: "s3cret" } as const;
    expect((await tryToOpen({ ...CLEAR, servers, credentials })).failure).toBeNull();
    const wrong = { kind: "token", token: "guessed" } as const;
    expect((await tryToOpen({ ...CLEAR, servers, credentials: wrong })).failure?.kind).toBe("refused");
  });

  test("takes the text of a .creds file", async () => {
    const user = nkeys.createUser();
    const seed = new TextDecoder().decode(user.getSeed());
    const text = `-----BEGIN NATS USER JWT-----
none
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
${seed}
------END USER NKEY SEED------
`;
    const login = { authenticator: credsAuthenticator(new TextEncoder().encode(text)) };
    const lines = [`authorization { users: [{ nkey: ${user.getPublicKey()} }] }`];
    const servers = await start({ lines, login });
    const credentials = { kind: "file", text } as const;
    expect((await tryToOpen({ ...CLEAR, servers, credentials })).failure).toBeNull();
    expect((await tryToOpen({ ...CLEAR, servers })).failure?.kind).toBe("refused");
  });

  test("over TLS is trusted where the operator's authorities signed it, on either runtime, and else not", async () => {
    directory = mkdtempSync(join(tmpdir(), "wherehouse-nats-tls-"));
    makeCertificates(directory);
    const path = join(directory, "ca.pem");
    const authorities = readFileSync(path, "utf8");
    const tls = `tls { cert_file: "${directory}/broker.pem", key_file: "${directory}/broker.key" }`;
    const servers = await start({
      lines: [tls],
      hostname: "localhost",
      login: { tls: { ca: authorities } },
    });
    const secure = { ...CLEAR, servers, isSecure: true };
    expect((await tryToOpen({ ...secure, authorities })).failure).toBeNull();
    expect((await tryToOpen({ ...secure, authorities: null })).failure?.kind).toBe("unreachable");
    const otherName = servers.map((server) => server.replace("localhost", "127.0.0.1"));
    expect((await tryToOpen({ ...secure, authorities, servers: otherName })).failure?.kind).toBe(
      "unreachable",
    );

    const script = join(import.meta.dir, "stream-user.ts");
    const child = Bun.spawn(
      [nativeDeno(), "run", "--allow-all", script, servers.join(","), "deno", "10", "5", path],
      { stdout: "pipe", stderr: "inherit" },
    );
    expect(JSON.parse((await new Response(child.stdout).text()) || "null")).toMatchObject({ followed: 10 });
  });

  test("in clear is no server for who asks for TLS", async () => {
    const servers = await start({});
    const { failure } = await tryToOpen({ ...CLEAR, servers, isSecure: true });
    expect(failure?.kind).toBe("unreachable");
  });
});
