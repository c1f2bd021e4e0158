import { isObject } from "../../lib/is-object.ts";
import type { StreamMessage } from "./stream.ts";

/** A message that was taken, by what tells it from another one that its number was given to later. */
export type TakenMessage = Pick<StreamMessage, "number" | "id">;

/** As a file or a peer has it, with null for none; undefined where it is neither. */
export function parseTakenMessage(value: unknown): TakenMessage | null | undefined {
  if (value === null) return null;
  if (!isObject(value)) return undefined;
  const { number, id } = value;
  const isNumber = typeof number === "number" && Number.isSafeInteger(number) && number >= 1;
  return isNumber && typeof id === "string" ? { number, id } : undefined;
}
