import { expect, test } from "bun:test";
import { JetStreamApiError } from "@nats-io/jetstream";
import { errors } from "@nats-io/transport-node";
import { streamErrorOf } from "../../../../src/cluster/stream/nats-errors.ts";
import { StreamError, type StreamErrorKind } from "../../../../src/cluster/stream/stream.ts";

/** As servers of 2.15 send them: status, number and words. */
const ANSWERS: readonly [number, number, string, StreamErrorKind][] = [
  [503, 10008, "JetStream system temporarily unavailable", "unreachable"],
  [400, 10005, "no suitable peers for placement, peer offline", "unreachable"],
  [409, 10158, "duplicate message id is in process", "unreachable"],
  [429, 10167, "too many requests", "unreachable"],
  [503, 10077, "store is closed", "unreachable"],
  [503, 10077, "maximum bytes exceeded", "full"],
  [503, 10077, "write /data/1.blk: no space left on device", "full"],
  [500, 10047, "insufficient storage resources available", "full"],
  [400, 10071, "wrong last sequence: 7", "conflict"],
  [404, 10059, "stream not found", "gone"],
  [400, 10054, "message size exceeds maximum allowed", "refused"],
  [500, 10052, "invalid config", "refused"],
];

test.each(ANSWERS)("streamErrorOf() knows what %d, %d, %s means: %s", (code, number, description, kind) => {
  const answer = new JetStreamApiError({ code, err_code: number, description });
  const error = streamErrorOf(answer, 'publish to the stream "w"');
  expect(error.kind).toBe(kind);
  expect(error.message).toBe(`Cannot publish to the stream "w": ${description}`);
  expect(error.cause).toBe(answer);
});

test("streamErrorOf() knows what happens to connections, and to questions", () => {
  const kindOf = (error: unknown) => streamErrorOf(error, "ask").kind;
  expect(kindOf(new errors.TimeoutError())).toBe("unreachable");
  expect(kindOf(new errors.ConnectionError("connection refused"))).toBe("unreachable");
  expect(kindOf(new errors.ClosedConnectionError())).toBe("unreachable");
  const unheard = new errors.NoRespondersError("w.log");
  expect(kindOf(new errors.RequestError("no responders", { cause: unheard }))).toBe("unreachable");
  const forbidden = new errors.PermissionViolationError("not allowed", "publish", "w.log");
  expect(kindOf(new errors.RequestError("not allowed", { cause: forbidden }))).toBe("refused");
  const told = new StreamError("gone", "told already");
  expect(streamErrorOf(told, "ask")).toBe(told);
});

test("streamErrorOf() throws what is a mistake of ours", () => {
  const mistake = new TypeError("undefined is not a function");
  expect(() => streamErrorOf(mistake, "ask")).toThrow(mistake);
});
