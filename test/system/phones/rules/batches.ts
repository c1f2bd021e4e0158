import type { Outcome } from "../phone/connections.ts";
import type { Point } from "../phone/point.ts";
import { isSuccess, type Rule, type Sending } from "./rule.ts";

export interface Batches {
  readonly pointsMax: number;
  /** Whether the client takes an answer for success. */
  isDone(outcome: Outcome): boolean;
  /** After a batch that went well and left nothing. */
  readonly everyMs: number;
  /** After so many failures in a row, from 1. */
  pauseMs(failures: number): number;
}

/** The oldest points as one batch, which is deleted whole or kept whole, and sent again at the next interval. */
export function wholeBatches({ pointsMax, isDone, everyMs, pauseMs }: Batches): Rule {
  return async (phone) => {
    for (let failures = 0; ; ) {
      const batch = (await phone.waiting()).slice(0, pointsMax);
      const isSent = isDone(await phone.send(batch));
      if (isSent) phone.take(batch);
      failures = isSent ? 0 : failures + 1;
      if (isSent && batch.length === pointsMax) continue;
      await phone.pause(isSent ? everyMs : pauseMs(failures));
    }
  };
}

/** As Colota has them: a batch that is refused as a mistake is halved, again and again; any other failure ends it. */
export function halvedBatches({ pointsMax, isDone, everyMs, pauseMs }: Batches): Rule {
  return async (phone) => {
    for (let failures = 0; ; ) {
      const batch = (await phone.waiting()).slice(0, pointsMax);
      const isSent = (await sendHalving(phone, batch, isDone)) === "sent";
      failures = isSent ? 0 : failures + 1;
      if (isSent && batch.length === pointsMax) continue;
      await phone.pause(isSent ? everyMs : pauseMs(failures));
    }
  };
}

/** `refused` where some of it was, as a mistake of the phone's; `failed` where the rest was not even tried. */
async function sendHalving(
  phone: Sending,
  batch: readonly Point[],
  isDone: Batches["isDone"],
): Promise<"sent" | "refused" | "failed"> {
  const outcome = await phone.send(batch);
  if (isDone(outcome)) {
    phone.take(batch);
    return "sent";
  }
  const isRefused = outcome.kind === "answer" && outcome.status >= 400 && outcome.status < 500;
  if (!isRefused) return "failed";
  if (batch.length === 1) return "refused";
  const middle = batch.length >> 1;
  const first = await sendHalving(phone, batch.slice(0, middle), isDone);
  if (first === "failed") return "failed";
  const second = await sendHalving(phone, batch.slice(middle), isDone);
  return second === "sent" ? first : second;
}

/** Many points at once, each a message of its own; those that fail wait longer with each pass. */
export function inParallel(atOnceMax: number, pauseMs: (failures: number) => number): Rule {
  return async (phone) => {
    for (let failures = 0; ; ) {
      const points = (await phone.waiting()).slice(0, atOnceMax);
      const outcomes = await Promise.all(points.map((point) => phone.send([point])));
      const done = points.filter((_, index) => isSuccess(outcomes[index]!));
      phone.take(done);
      if (done.length === points.length) failures = 0;
      else await phone.pause(pauseMs(++failures));
    }
  };
}

/** One pause after the other; the last for ever. */
export function steps(pausesMs: readonly number[]): (failures: number) => number {
  return (failures) => pausesMs[Math.min(failures, pausesMs.length) - 1]!;
}
