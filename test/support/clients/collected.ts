import type { Client, ClientMessage } from "../../../src/clients/client.ts";
import type { Content } from "../../../src/clients/content.ts";
import type { ClientPoint, MessageSink, RefusalReason } from "../../../src/clients/point.ts";
import { inOneStep } from "../../../src/lib/schedule/steps.ts";

type Claim = Pick<ClientPoint, "device" | "user">;

/** Collects the points of a client's message, in order. */
export class CollectedPoints implements MessageSink {
  readonly points: ClientPoint[] = [];
  /** For each point, the raw data that would be stored. */
  readonly raws: unknown[] = [];
  readonly refused: { readonly reason: RefusalReason; readonly raw: unknown }[] = [];
  /** For each refusal, the claimed identity. */
  readonly refusedFrom: (Claim | undefined)[] = [];
  readonly skipped: string[] = [];

  add(point: ClientPoint, raw: unknown): void {
    this.points.push(point);
    this.raws.push(raw);
  }

  refuse(reason: RefusalReason, raw?: unknown, from?: Claim): void {
    this.refused.push({ reason, raw });
    this.refusedFrom.push(from);
  }

  skip(what: string): void {
    this.skipped.push(what);
  }
}

export const ARRIVED_MS = 1_770_000_300_000;

/** A message of an anonymous phone, with the given changes. */
export function messageOf(content: Content, other: Partial<ClientMessage> = {}): ClientMessage {
  return {
    arrivedMs: ARRIVED_MS,
    content,
    query: new URLSearchParams(),
    headers: {},
    basicUser: null,
    topic: null,
    speedUnit: null,
    decrypt: () => inOneStep(() => null),
    ...other,
  };
}

/** Parses a short body like the server does. */
export function contentOf(body: string): Content {
  const begin = body.trimStart();
  if (begin === "") return { kind: "empty" };
  if (!begin.startsWith("{") && !begin.startsWith("[")) return { kind: "text", text: body };
  return { kind: "json", value: JSON.parse(body) };
}

export function collect(client: Client, message: ClientMessage): CollectedPoints {
  const collected = new CollectedPoints();
  for (const _step of client.read(message, collected));
  return collected;
}
