import type { Client, ClientMessage } from "../../../../src/clients/client.ts";
import { CLIENTS } from "../../../../src/clients/clients.ts";
import { type Content, listOf } from "../../../../src/clients/content.ts";
import { type ClientPoint, type MessageSink, REFUSAL_REASONS } from "../../../../src/clients/point.ts";
import { readContent } from "../../../../src/clients/read-content.ts";
import { credentialsOf } from "../../../../src/http/clients/client-request.ts";
import { CLIENT_EXAMPLES } from "../../../../src/http/clients/examples.ts";
import { inOneStep, type Steps } from "../../../../src/lib/schedule/steps.ts";
import { changeJson } from "../support/inputs/change-json.ts";
import { createDraw, type Draw } from "../support/inputs/draw.ts";
import { must, mustEqual, type Target } from "../support/target.ts";

/*
 * What clients send: nothing of it throws; a long body is read as the same one is when it is short; points are what
 * they say they are; and what is kept of a single point gives that point when it is tried again.
 */

const encoder = new TextEncoder();
const ARRIVED_MS = 1_795_000_000_000;

export const clientMessages: Target = {
  name: "clients",
  bytesMax: 4096,
  seeds: () => CLIENTS.flatMap((_, client) => [0, 1, 2].map((how) => Uint8Array.of(client, how, 0))),
  check(input) {
    const draw = createDraw(input);
    const client = draw.pick(CLIENTS);
    const { body, query } = drawMessage(draw, client);
    const content = whole(readContent(body));
    if (draw.chance(32)) mustReadAlike(body, content); // It takes as long as all the rest 30 times.
    const headers = draw.chance(3) ? { "user-agent": draw.text(40), "x-limit-d": draw.text(9) } : {};
    const message = messageOf(content, query, headers);
    for (const { point, raw } of pointsOf(client, message)) {
      mustBeSound(point);
      const again = pointsOf(client, keptOf(message, raw));
      mustEqual(
        again.map((each) => each.point),
        [point],
        `what ${client.name} sent of a point gives it again`,
      );
    }
  },
};

export const clientKeys: Target = {
  name: "client-keys",
  bytesMax: 256,
  seeds: () => [],
  check(input) {
    const draw = createDraw(input);
    const text = () => (draw.chance(3) ? "wh_key" : draw.text(30));
    const pair = `${draw.pick(["", "wh_", "anna:", "wh_key:"])}${text()}`;
    const scheme = draw.pick(["Bearer ", "basic  ", "Basic ", "Digest ", "", "Basic"]);
    const authorization = scheme + (draw.chance(2) ? Buffer.from(pair).toString("base64") : pair);
    const { keyTexts, basicUser } = credentialsOf(
      draw.chance(3) ? null : authorization,
      draw.chance(3) ? text() : null,
      new URLSearchParams(draw.list(3, () => [draw.pick(["api_key", "token", "x"]), text()])),
    );
    mustEqual([...new Set(keyTexts)], keyTexts, "a key is told once");
    must(!keyTexts.includes(""), "an empty text is no key", () => keyTexts);
    must(basicUser !== "" && basicUser?.startsWith("wh_") !== true, "no name is a key", () => basicUser);
  },
};

function drawMessage(draw: Draw, { name }: Client): { body: Uint8Array; query: URLSearchParams } {
  const { body, query } = CLIENT_EXAMPLES[name];
  const none = new URLSearchParams();
  switch (draw.upTo(2)) {
    case 0:
      return { body: draw.rest(), query: none };
    case 1: {
      const pairs = Object.entries(query ?? (body as Record<string, string>));
      const changed = pairs.map(([key, value]) => [key, draw.chance(4) ? draw.text(20) : String(value)]);
      const form = new URLSearchParams(changed);
      return draw.chance(2)
        ? { body: new Uint8Array(), query: form }
        : { body: encoder.encode(String(form)), query: none };
    }
    default: {
      const other = draw.chance(4) ? CLIENT_EXAMPLES[draw.pick(CLIENTS).name].body : body;
      return { body: encoder.encode(changeJson(draw, JSON.stringify(other ?? query))), query: none };
    }
  }
}

/** Blanks make a body too long to be parsed in one piece, and change nothing else. */
const BLANKS = new Uint8Array(1024 * 1024).fill(0x20);

function mustReadAlike(body: Uint8Array, content: Content): void {
  if (content.kind === "text" || body[0] === 0xef) return;
  const long = whole(readContent(Buffer.concat([BLANKS, body])));
  mustEqual(long.kind, content.kind, "a long body is read as a short one");
  if (long.kind === "json" && content.kind === "json") {
    mustEqual(plain(long.value), plain(content.value), "a long body holds what a short one does");
  }
}

/** With all lists as arrays. */
function plain(value: unknown): unknown {
  const list = listOf(value);
  if (list !== null) return Array.from(list, plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}

interface FoundPoint {
  readonly point: ClientPoint;
  readonly raw: unknown;
}

function pointsOf(client: Client, message: ClientMessage): FoundPoint[] {
  const points: FoundPoint[] = [];
  const sink: MessageSink = {
    add: (point, raw) => points.push({ point, raw }),
    refuse: (reason) => must(REFUSAL_REASONS.includes(reason), "a refusal has a reason", () => reason),
    skip: (what) => must(what !== "", "what is skipped has a name"),
  };
  whole(client.read(message, sink));
  return points;
}

function mustBeSound({ device, user, timestampMs, latitude, longitude, details }: ClientPoint): void {
  for (const id of [device, user]) must(id === null || typeof id === "string", "an id is text", () => id);
  // NaN is what can't be read; a time may lie beyond all others.
  for (const number of [latitude, longitude])
    must(number === null || Math.abs(number) !== Infinity, "a coordinate is a number", () => number);
  must(isTime(timestampMs), "a time is whole", () => timestampMs);
  for (const [name, value] of Object.entries(details)) {
    // Bounds, and what can't be read, are looked at later.
    must(value !== null && value !== undefined, "what is not known is left out", () => [name, value]);
  }
}

/** The message that is made of what is kept of a point. */
function keptOf(message: ClientMessage, raw: unknown): ClientMessage {
  if (raw === undefined) return message;
  if (typeof raw === "string" && message.content.kind === "empty") {
    return { ...message, query: new URLSearchParams(raw) };
  }
  const body = encoder.encode(typeof raw === "string" ? raw : JSON.stringify(raw));
  return { ...message, content: whole(readContent(body)) };
}

function messageOf(
  content: Content,
  query: URLSearchParams,
  headers: ClientMessage["headers"],
): ClientMessage {
  return {
    arrivedMs: ARRIVED_MS,
    ...{ content, query, headers, basicUser: null, topic: null, speedUnit: null },
    decrypt: () => inOneStep(() => null),
  };
}

function whole<Value>(steps: Steps<Value>): Value {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

function isTime(timestampMs: number | null): boolean {
  return timestampMs === null || !Number.isFinite(timestampMs) || Number.isInteger(timestampMs);
}
