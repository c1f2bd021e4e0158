import { isSuccess, type Rule } from "./rule.ts";

/** The oldest point again and again without a pause, until it goes through or is older than the buffer time. */
export function tightLoop(bufferMs: number): Rule {
  return async (phone) => {
    for (;;) {
      const [oldest] = await phone.waiting();
      if (isSuccess(await phone.send([oldest!]))) phone.take([oldest!]);
      else if (phone.ageMs(oldest!) > bufferMs) phone.lose([oldest!], "older than its buffer time");
      else await phone.pause(ATTEMPT_MS);
    }
  };
}

const ATTEMPT_MS = 2000; // What an attempt takes a phone where nobody is there.
