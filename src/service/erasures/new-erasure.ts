import { fail, ok, type Result } from "../../lib/result.ts";
import type { DeviceId, UserId } from "../../model/ids.ts";
import { deviceIdFault, userIdFault } from "../../model/report.ts";
import type { TimeRange } from "../../model/time/range.ts";

/** An erasure as a client asks for it. */
export interface NewErasure {
  readonly subject: ErasureSubject;
  /** Infinite where it has no bound. */
  readonly range: TimeRange;
  /** Whether reports of the subject are to be refused from now on. */
  readonly block: boolean;
}

/** What is erased: all that a device reported, or all that was reported with a user. */
export type ErasureSubject =
  | {
      readonly deviceId: DeviceId;
      /** Other devices that go with it, in addition to those that show as it; none by default. */
      readonly others?: readonly DeviceId[];
    }
  | { readonly userId: UserId };

const MEMBERS = ["device_id", "user_id", "start", "end", "block"];

/** Parses the members of a JSON object, of which null counts as absent. The error is a sentence. */
export function parseNewErasure(given: Readonly<Record<string, unknown>>): Result<NewErasure, string> {
  const members = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  const stranger = Object.keys(members).find((name) => !MEMBERS.includes(name));
  if (stranger !== undefined) return fail(`an erasure has ${MEMBERS.join(", ")}, and no other members`);
  const subject = parseSubject(members);
  if (!subject.ok) return subject;
  const { block = false, start = Number.NEGATIVE_INFINITY, end = Number.POSITIVE_INFINITY } = members;
  if (typeof block !== "boolean") return fail("block must be true or false");
  if (members.start !== undefined && !isInstant(start))
    return fail("start must be a time in Unix milliseconds");
  if (members.end !== undefined && !isInstant(end)) return fail("end must be a time in Unix milliseconds");
  const range = { startMs: start as number, endMs: end as number };
  if (range.startMs >= range.endMs) return fail("start must be before end");
  return ok({ subject: subject.value, range, block });
}

function parseSubject({
  device_id: deviceId,
  user_id: userId,
}: Readonly<Record<string, unknown>>): Result<ErasureSubject, string> {
  if ((deviceId === undefined) === (userId === undefined))
    return fail("an erasure has either device_id or user_id");
  if (deviceId !== undefined) {
    if (typeof deviceId !== "string" || deviceIdFault(deviceId) !== null)
      return fail("device_id must be 1 to 128 characters, none of them control characters");
    return ok({ deviceId: deviceId as DeviceId });
  }
  if (typeof userId !== "string" || userIdFault(userId) !== null)
    return fail("user_id must be 1 to 128 characters, none of them control characters");
  return ok({ userId: userId as UserId });
}

/** Whether it is an instant that a report may have; 8.64e15 is the last that a date may have. */
function isInstant(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 8_640_000_000_000_000;
}
