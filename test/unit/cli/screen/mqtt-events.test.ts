import { expect, test } from "bun:test";
import { createEventLog } from "../../../../src/cli/screen/event-log.ts";
import { mqttEvents } from "../../../../src/cli/screen/mqtt-events.ts";

const FILTER = "owntracks/+/+";

function eventsTo(repeatMs: number) {
  const lines: Record<string, unknown>[] = [];
  const error = (line: string) => void lines.push(JSON.parse(line));
  const log = createEventLog("info", { error, errorIsTerminal: false });
  return {
    events: mqttEvents(log, repeatMs),
    named: () => lines.map(({ event, level }) => [event, level]),
    lines,
  };
}

test("mqttEvents() tells of a connection, and that messages may be missing where the broker kept none", () => {
  const { events, named } = eventsTo(60_000);
  events.onConnected(FILTER, false);
  events.onConnected(FILTER, true);
  expect(named()).toEqual([
    ["mqtt_connected", "info"],
    ["mqtt_connected", "info"],
    ["mqtt_missed", "warn"],
  ]);
});

test("mqttEvents() says once why there is no connection and why messages wait, until it is another reason", () => {
  const { events, lines } = eventsTo(60_000);
  const full = { kind: "unavailable", message: "the disk is full", retryAfterSeconds: 10 } as const;
  for (const reason of ["refused", "refused", "closed", "refused"]) events.onDisconnected(FILTER, reason);
  for (let time = 0; time < 3; time++) events.onHeld(FILTER, full);
  expect(lines.map(({ event, reason }) => [event, reason])).toEqual([
    ["mqtt_disconnected", "refused"],
    ["mqtt_disconnected", "closed"],
    ["mqtt_held", "the disk is full"],
  ]);
});

test("mqttEvents() says again what goes on", () => {
  const { events, lines } = eventsTo(0);
  for (let time = 0; time < 3; time++) events.onDisconnected(FILTER, "refused");
  expect(lines).toHaveLength(3);
});

test("mqttEvents() tells of a refused subscription, of QoS 0, and of faults of ours", () => {
  const { events, named, lines } = eventsTo(60_000);
  events.onRefused(FILTER, "not allowed");
  events.onUnassured(FILTER);
  events.onFault(FILTER, new Error("a bug"));
  events.onUnheard(FILTER, 2);
  expect(named()).toEqual([
    ["mqtt_refused", "warn"],
    ["mqtt_unassured", "warn"],
    ["mqtt_fault", "error"],
    ["mqtt_unheard", "warn"],
  ]);
  expect(lines[2]).toMatchObject({ topic: FILTER, err: { message: "a bug" } });
});

test("mqttEvents() tells which of several nodes takes from the broker", () => {
  const { events, named } = eventsTo(60_000);
  for (const held of ["here", "elsewhere", "lost"] as const) events.onLease(held);
  expect(named()).toEqual([
    ["mqtt_lease_held", "info"],
    ["mqtt_elsewhere", "info"],
    ["mqtt_lease_lost", "warn"],
  ]);
});
