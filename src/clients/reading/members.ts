import { isObject } from "../../lib/is-object.ts";
import { LongList } from "../content.ts";

/** What an object, a form or the parameters of a URL say, by name. */
export type Members = Readonly<Record<string, unknown>>;

/** Whether a value is an object of a message; a list is none, however long. */
export function isMembers(value: unknown): value is Members {
  return isObject(value) && !(value instanceof LongList);
}

/** Members of an object; none of anything else. */
export function membersOf(value: unknown): Members {
  return isMembers(value) ? value : {};
}

/** Parameters as members, so that they are read like those of an object; the first of a name counts. */
export function membersOfParameters(...sources: readonly URLSearchParams[]): Members {
  const members: Record<string, unknown> = Object.create(null);
  for (const parameters of sources) for (const [name, value] of parameters) members[name] ??= value;
  return members;
}
