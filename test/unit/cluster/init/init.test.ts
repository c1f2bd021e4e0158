import { expect, test } from "bun:test";
import { InitError } from "../../../../src/cluster/init/init-error.ts";
import { publishLog } from "../../../../src/cluster/init/publish-log.ts";
import { MessageReader } from "../../../../src/cluster/log/group-message.ts";
import { planMessages } from "../../../../src/cluster/log/plan-messages.ts";
import { type Stream, StreamError } from "../../../../src/cluster/stream/stream.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import type { UtcDay } from "../../../../src/model/time/utc-day.ts";
import { withoutCovered } from "../../../../src/wal/batch-parts.ts";
import type { NewEntry } from "../../../../src/wal/entry/entry.ts";
import * as fc from "../../../support/fast-check.ts";
import { batchIn } from "../../../support/reports/batches.ts";
import { SimulatedServers } from "../../../support/stream/simulated-servers.ts";
import { dayBatch, namedBatch } from "../../wal/fixture.ts";

const APP = "default" as AppId;
const FIRST = 7;
const NEVER = new AbortController().signal;

async function* entriesOf(names: readonly string[], reports = 1): AsyncGenerator<NewEntry, void> {
  for (const name of names) yield { kind: "reports", appId: APP, batch: namedBatch(name, reports) };
}

/** What the messages of a stream hold, as `name reports`. */
function namesIn(servers: SimulatedServers): string[] {
  const reader = new MessageReader("fleet");
  return servers.messages.flatMap(({ number, bytes }) =>
    reader.entries(number, bytes).map((entry) => {
      const batch = batchIn(entry);
      return `${batch.texts[batch.device[0]!]} ${batch.count}`;
    }),
  );
}

class Killed extends Error {}

/** What happens to each publish: it is taken, its answer is lost, or the process ends before or after it. */
type Fate = "taken" | "unanswered" | "killed before" | "killed after" | "killed, and it comes later";

/** The servers as one run of the command sees them. */
function connect(servers: SimulatedServers, fates: Fate[]) {
  const late: (() => void)[] = [];
  const stream: Pick<Stream, "name" | "publish" | "follow" | "state"> = {
    name: "fleet",
    state: async () => servers.state(),
    async publish(bytes, id) {
      const fate = fates.shift() ?? "taken";
      if (fate === "killed before") throw new Killed();
      if (fate === "killed, and it comes later") {
        late.push(() => servers.keep(bytes, id));
        throw new Killed();
      }
      const number = servers.keep(bytes, id);
      for (const come of late.splice(0)) come();
      if (fate === "killed after") throw new Killed();
      if (fate === "unanswered") throw new StreamError("unreachable", "no answer came");
      return number;
    },
    async follow(from, onMessage, signal) {
      for (let next = from; !signal.aborted; next++) await onMessage(servers.find(next)!);
    },
  };
  return { stream: stream as Stream, late };
}

async function patiently<Answer>(question: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      return await question();
    } catch (error) {
      if (!(error instanceof StreamError)) throw error;
    }
  }
}

function publish(stream: Stream, names: readonly string[], messageBytesMax = 2000) {
  return publishLog({
    stream,
    firstMessage: FIRST,
    messages: planMessages(entriesOf(names), messageBytesMax),
    signal: NEVER,
    onPublished: () => undefined,
    patiently,
  });
}

test("publishLog() brings every entry once and in order, wherever it is killed and begun again", async () => {
  const fate = fc.constantFrom<Fate>(
    "taken",
    "taken",
    "unanswered",
    "killed before",
    "killed after",
    "killed, and it comes later",
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fate, { maxLength: 40 }), fc.nat(60), async (fates, count) => {
      const servers = new SimulatedServers("fleet", () => 0, FIRST);
      const names = Array.from({ length: count }, (_, i) => `d${i}`);
      let late: (() => void)[] = [];
      for (;;) {
        const connection = connect(servers, fates);
        connection.late.push(...late);
        late = connection.late;
        try {
          const { messages } = await publish(connection.stream, names);
          expect(servers.state().lastMessage).toBe(FIRST + messages - 1);
          break;
        } catch (error) {
          if (!(error instanceof Killed)) throw error;
        }
      }
      for (const come of late) come();
      expect(namesIn(servers)).toEqual(names.map((name) => `${name} 1`));
    }),
    { numRuns: 300 },
  );
});

test("publishLog() refuses a stream with other messages or another writer", async () => {
  const names = Array.from({ length: 40 }, (_, i) => `d${i}`);
  const begun = new SimulatedServers("fleet", () => 0, FIRST);
  await publish(connect(begun, []).stream, names);
  const refusal = async (servers: SimulatedServers, of = names) => {
    const error = await publish(connect(servers, []).stream, of).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InitError);
    expect((error as Error).message).toContain("To start over, delete the stream");
  };
  await refusal(begun, ["other", ...names]);
  await refusal(begun, names.slice(0, 20));
  await refusal(new SimulatedServers("fleet", () => 0, 1));

  const shared = new SimulatedServers("fleet", () => 0, FIRST);
  const { stream } = connect(shared, []);
  const publishOne = stream.publish.bind(stream);
  stream.publish = (bytes, id) => {
    if (id.startsWith(`init.${FIRST + 1}.`)) shared.keepForeign(bytes);
    return publishOne(bytes, id);
  };
  const error = await publish(stream, names).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(InitError);
});

test("planMessages() keeps to the length, takes a long batch apart, and says the same each time", async () => {
  const plan = () => Array.fromAsync(planMessages(entriesOf(["a", "b", "c"], 500), 8000));
  const planned = await plan();
  expect(await plan()).toEqual(planned);
  expect(Math.max(...planned.map(({ bytes }) => bytes.length))).toBeLessThanOrEqual(8000);
  expect(planned.reduce((sum, { records }) => sum + records, 0)).toBe(1500);
  const reader = new MessageReader("fleet");
  const devices = planned.flatMap(({ bytes }, index) =>
    reader
      .entries(FIRST + index, bytes)
      .map(batchIn)
      .map((batch) => batch.texts[batch.device[0]!]!),
  );
  expect(devices).toEqual([...devices].sort());
  expect(new Set(devices)).toEqual(new Set(["a", "b", "c"]));
});

test("withoutCovered() leaves out days that are covered up to the entry, and no others", () => {
  const covered = new Map([
    [100 as UtcDay, 5],
    [101 as UtcDay, 9],
  ]);
  const daysOf = (sequence: number) => {
    const entry = { kind: "reports", sequence, appId: APP, batch: dayBatch("d", [100, 101, 102]) } as const;
    const batch = withoutCovered(entry, covered);
    return [...batch.timestampMs].map((ms) => Math.floor(ms / 86_400_000));
  };
  expect(daysOf(5)).toEqual([102]);
  expect(daysOf(6)).toEqual([100, 102]);
  expect(daysOf(10)).toEqual([100, 101, 102]);
});

test("planMessages() carries profiles of devices between reports, in their order", async () => {
  const profile = { name: "Bus", color: null, icon: null, tags: [], metadata: null };
  async function* mixed(): AsyncGenerator<NewEntry, void> {
    yield { kind: "reports", appId: APP, batch: namedBatch("a") };
    yield { kind: "device_profile", appId: APP, deviceId: "bus" as DeviceId, profile };
    yield { kind: "device_profile", appId: APP, deviceId: "tram" as DeviceId, profile: null };
    yield { kind: "reports", appId: APP, batch: namedBatch("b") };
  }
  const [message] = await Array.fromAsync(planMessages(mixed(), 8000));
  expect([message!.entries, message!.records]).toEqual([4, 2]);
  const entries = new MessageReader("fleet").entries(FIRST, message!.bytes);
  expect(
    entries.map((entry) => (entry.kind === "device_profile" ? entry.deviceId : entry.kind)) as string[],
  ).toEqual(["reports", "bus", "tram", "reports"]);
});

test("planMessages() cuts a long piece of a message of the quarantine, and its pieces are the whole again", async () => {
  const bytes = Uint8Array.from({ length: 20_000 }, (_, index) => index % 251);
  const piece = {
    ...({ kind: "refused_piece", appId: APP, id: "0123456789abcdef".repeat(2), source: "" } as const),
    ...{ number: 3, start: 1000, totalBytes: 30_000, bytes },
  };
  async function* entries(): AsyncGenerator<NewEntry, void> {
    yield piece;
  }
  const messages = await Array.fromAsync(planMessages(entries(), 4096));
  const reader = new MessageReader("fleet");
  const pieces = messages.flatMap((message, index) => reader.entries(FIRST + index, message.bytes));
  expect(pieces.length).toBeGreaterThan(5);
  let end = 1000;
  for (const each of pieces) {
    if (each.kind !== "refused_piece") throw new Error(`a piece became a ${each.kind}`);
    const { start, id, source, number, totalBytes } = each;
    expect([start, id, source, number, totalBytes]).toEqual([end, piece.id, "", 3, 30_000]);
    expect(each.bytes).toEqual(bytes.subarray(start - 1000, start - 1000 + each.bytes.length));
    end += each.bytes.length;
  }
  expect(end).toBe(21_000);
});
