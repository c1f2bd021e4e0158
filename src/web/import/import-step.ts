import { ApiError, sentenceOf } from "../api/api-error.ts";
import type { ImportAnswer } from "./import-answer.ts";

/** What the dialog shows of the file. */
export type Step =
  /** There is no file yet. */
  | { readonly kind: "choose" }
  /** The server reads the file. `sentShare` is from 0 to 1; `answer` is that for another device. */
  | { readonly kind: "looking"; readonly answer: ImportAnswer | null; readonly sentShare: number }
  /** `fault` is why the answer is missing or old. */
  | { readonly kind: "preview"; readonly answer: ImportAnswer | null; readonly fault: Fault | null }
  /** The import command reads the file, not the server. */
  | { readonly kind: "command"; readonly reason: string }
  | { readonly kind: "importing"; readonly answer: ImportAnswer; readonly sentShare: number }
  | { readonly kind: "done"; readonly answer: ImportAnswer };

export interface Fault {
  readonly sentence: string;
  /** Whether the import command may help. */
  readonly hasCommand: boolean;
  /** Whether the file has times without a zone, so that the user must name it. */
  readonly needsZone: boolean;
}

export const CANCELLED: Fault = {
  sentence: "Cancelled. What was stored until then stays; importing again adds the rest.",
  hasCommand: false,
  needsZone: false,
};

export function faultOf(error: unknown): Fault {
  const message = error instanceof ApiError ? error.message : "";
  return {
    sentence: sentenceOf(error),
    hasCommand: /^the (file|body) |import command/.test(message),
    needsZone: message.includes("has no time zone"),
  };
}
