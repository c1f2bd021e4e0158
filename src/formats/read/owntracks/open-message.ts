import { isEncrypted, keyOf, openBox, readBox } from "../../../clients/owntracks/encryption.ts";
import { isMembers, type Members } from "../../../clients/reading/values.ts";
import type { Steps } from "../../../lib/schedule/steps.ts";

/** Finds what encrypted messages say, with the passphrases that the operator knows. */
export type OpenMessage = (message: Members) => Members | null;

/** Null is what can't be opened; a message that is none of those stays as it is. */
export function createOpenMessage(passPhrases: readonly string[]): OpenMessage {
  const keys = passPhrases.map(keyOf);
  return (message) => {
    if (!isEncrypted(message)) return message;
    const box = atOnce(readBox(message));
    for (const key of keys) {
      const bytes = atOnce(openBox(key, box));
      const clear = bytes === null ? null : parseMembers(new TextDecoder().decode(bytes));
      // Who puts a box into a box wants to keep us busy.
      if (clear !== null && !isEncrypted(clear)) return clear;
    }
    return null;
  };
}

/** The members of a JSON object; null where a text is none. */
export function parseMembers(text: string): Members | null {
  if (!text.startsWith("{")) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isMembers(value) ? value : null;
  } catch {
    return null;
  }
}

/** An import has its turns of the event loop elsewhere. */
function atOnce<Value>(steps: Steps<Value>): Value {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
