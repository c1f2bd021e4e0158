import { pause } from "../../support/pause.ts";
import type { App } from "../apps/app.ts";
import type { Sending } from "../rules/rule.ts";
import { type Outcome, openConnections } from "./connections.ts";
import type { Ledger } from "./ledger.ts";
import type { Pace } from "./pace.ts";
import type { Point } from "./point.ts";
import type { Witness } from "./witness.ts";

/** From switching a phone on to switching it off: its app goes by its rule. */
export interface Session {
  end(): Promise<void>;
}

export interface SessionOptions {
  readonly app: App;
  readonly user: string;
  readonly device: string;
  readonly url: string;
  readonly pace: Pace;
}

/** What outlives a session. */
export interface PhoneState {
  readonly ledger: Ledger;
  readonly witness: Witness;
  /** When each point was made, in ms of the run. */
  readonly madeAtMs: readonly number[];
  readonly key: string;
  readonly isKeyGood: boolean;
  readonly nextPoint: PromiseWithResolvers<void>;
}

/** Thrown into a rule whose phone was switched off. */
class SwitchedOff extends Error {}

export function startSession({ app, user, device, url, pace }: SessionOptions, state: PhoneState): Session {
  const connections = openConnections(url);
  const off = Promise.withResolvers<never>();
  off.promise.catch(() => undefined); // Nobody may be waiting for it.
  const { ledger, witness } = state;

  /** What is waited for, unless the phone is switched off before. */
  function whileOn<Value>(promise: Promise<Value>): Promise<Value> {
    return Promise.race([promise, off.promise]);
  }

  async function send(points: readonly Point[]): Promise<Outcome> {
    const { key, isKeyGood: wasKeyGood } = state;
    ledger.noteSent(points);
    const request = app.request(points, { user, device, key });
    const outcome = await whileOn(connections.exchange(request, pace.timeoutMs(app.timeoutMs)));
    const isKeyGood = wasKeyGood && state.isKeyGood && state.key === key; // All the time.
    witness.note(outcome, { key, isKeyGood, isHuge: points.some(({ kind }) => kind === "huge-photo") });
    return outcome;
  }

  const sending: Sending = {
    async waiting() {
      for (;;) {
        const points = ledger.waiting();
        if (points.length > 0) return points;
        await whileOn(state.nextPoint.promise);
      }
    },
    madeLast: (count) => ledger.entries.slice(-count).map(({ point }) => point),
    send,
    take: ledger.take,
    lose(points, rule, isServersFault = false) {
      ledger.lose(points, { rule, isServersFault, atMs: pace.elapsedMs() });
    },
    pause: (phoneMs) => whileOn(pause(pace.pauseMs(phoneMs))),
    untilNextPoint: (phoneMs) =>
      whileOn(Promise.race([state.nextPoint.promise, pause(pace.pauseMs(phoneMs))])),
    ageMs: ({ number }) => (pace.elapsedMs() - state.madeAtMs[number]!) * pace.times,
  };
  const done = app.rule(sending).catch((error: unknown) => {
    if (!(error instanceof SwitchedOff)) throw error;
  });

  return {
    end() {
      off.reject(new SwitchedOff());
      connections.close();
      return done;
    },
  };
}
