import { pause } from "../../support/pause.ts";
import { openConnections } from "../phone/connections.ts";
import type { Pace } from "../phone/pace.ts";
import { createWitness, type Witness } from "../phone/witness.ts";

/** Somebody with a key who sends nothing but rubbish, until his share of the quarantine is full, and on. */
export interface Vandal {
  readonly witness: Witness;
  stop(): Promise<void>;
}

const RUBBISH_BYTES = 1_000_000; // Each unlike the others, since the same is kept once.
const PAUSE_MS = 150;
const TIMEOUT_MS = 60_000;

export function startVandal(url: string, key: string, pace: Pace): Vandal {
  const connections = openConnections(url);
  const witness = createWitness();
  let isOver = false;

  async function vandalize(): Promise<void> {
    for (let count = 0; !isOver; count++) {
      const body = `{"rubbish":${count},"more":"${"x".repeat(RUBBISH_BYTES)}`;
      const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
      const request = { method: "POST", path: "/ingest/owntracks", headers, body } as const;
      const outcome = await connections.exchange(request, pace.timeoutMs(TIMEOUT_MS));
      witness.note(outcome, { key, isKeyGood: true, isHuge: false });
      await pause(PAUSE_MS);
    }
  }

  const done = vandalize();
  return {
    witness,
    stop() {
      isOver = true;
      connections.close();
      return done;
    },
  };
}
