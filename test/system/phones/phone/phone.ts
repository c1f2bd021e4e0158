import type { Journey } from "./journey.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { type Session, type SessionOptions, startSession } from "./session.ts";
import { createWitness, type Witness } from "./witness.ts";

/** A simulated phone: an app with its queue, which survives where the app keeps it on the disk. */
export interface Phone extends PhoneOptions {
  /** Under which its points must be stored. */
  readonly deviceId: string;
  readonly ledger: Ledger;
  /** What it was answered. */
  readonly witness: Witness;
  /** Of the good keys that it ever had. */
  readonly keyIds: ReadonlySet<string>;
  /** A key is typed in; one without an id is none that the server knows. */
  typeKey(key: string, id: string | null): void;
  /** The key that it has is no good from now on. */
  distrustKey(): void;
  /** Goes on, and queues another point. */
  makePoint(): void;
  switchOn(): void;
  switchOff(): Promise<void>;
}

export interface PhoneOptions extends SessionOptions {
  readonly name: string;
  readonly appId: string;
  /** The device that its key is bound to, if any. */
  readonly boundTo: string | null;
  readonly journey: Journey;
}

export function createPhone(options: PhoneOptions): Phone {
  const { app, user, device, boundTo, journey, pace } = options;
  const state = {
    ledger: createLedger(),
    witness: createWitness(),
    madeAtMs: [] as number[],
    key: "",
    isKeyGood: false,
    /** Resolves with the next point. */
    nextPoint: Promise.withResolvers<void>(),
  };
  const keyIds = new Set<string>();
  let session: Session | null = null;

  return {
    ...options,
    deviceId: boundTo ?? app.deviceIdOf({ user, device, key: "" }),
    ledger: state.ledger,
    witness: state.witness,
    keyIds,
    typeKey(key, id) {
      state.key = key;
      state.isKeyGood = id !== null;
      if (id !== null) keyIds.add(id);
    },
    distrustKey() {
      state.isKeyGood = false;
    },
    makePoint() {
      state.ledger.add(journey.next());
      state.madeAtMs.push(pace.elapsedMs());
      state.nextPoint.resolve();
      state.nextPoint = Promise.withResolvers();
    },
    switchOn() {
      session ??= startSession(options, state);
    },
    async switchOff() {
      const ending = session;
      session = null;
      await ending?.end();
      if (app.queuesInMemory) {
        const loss = { rule: "switched off with a queue in memory", isServersFault: false };
        state.ledger.lose(state.ledger.waiting(), { ...loss, atMs: pace.elapsedMs() });
      }
    },
  };
}
