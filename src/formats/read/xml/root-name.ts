import type { Beginning } from "../format.ts";
import { FormatError } from "../format-error.ts";
import { XmlReader } from "./xml-reader.ts";

/** Bytes that are looked at before it is asked whether the element has come. */
const STEP_BYTES = 4096;

/** The local name of the element that holds all others; null where a file is no XML, or its beginning too short. */
export function rootNameOf({ bytes, text }: Pick<Beginning, "bytes" | "text">): string | null {
  if (!text.startsWith("<")) return null; // Much else holds XML somewhere.
  let root: string | null = null;
  const reader = new XmlReader({
    open(name) {
      root ??= name;
      return false;
    },
    close() {},
  });
  try {
    for (let at = 0; at < bytes.length && root === null; at += STEP_BYTES)
      reader.push(bytes.subarray(at, at + STEP_BYTES));
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
  }
  return root;
}
