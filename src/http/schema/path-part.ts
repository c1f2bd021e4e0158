import { ok, type Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import { ANONYMOUS, type UserId } from "../../model/ids.ts";
import { pathnameOf } from "../pathname.ts";
import { invalid } from "./parameter.ts";

/**
 * The variable part of a path such as `/api/v1/devices/{deviceId}/...`, percent-decoded. It is read from the
 * URL itself: what the framework makes of bytes that aren't UTF-8 differs between runtimes.
 */
export function readDeviceId(url: string): Result<string, ServiceError> {
  return decodePart(url, "deviceId");
}

export function readUserId(url: string): Result<UserId, ServiceError> {
  const part = decodePart(url, "user_id");
  if (!part.ok) return part;
  const userId = part.value;
  if (userId.trim() === "") return invalidUser("user_id must not be empty");
  if (userId === ANONYMOUS) return invalidUser(`user_id must not be ${ANONYMOUS}`);
  return ok(userId as UserId);
}

function invalidUser(message: string): { readonly ok: false; readonly error: ServiceError } {
  return { ok: false, error: { kind: "invalid_user_id", message } };
}

/** Its place among the parts of every such path: `/api/v1/devices/PART/...`. */
const PART_INDEX = 4;

function decodePart(url: string, name: string): Result<string, ServiceError> {
  const part = pathnameOf(url).split("/")[PART_INDEX] ?? "";
  try {
    return ok(decodeURIComponent(part));
  } catch {
    return invalid(`${name} in the path must be percent-encoded UTF-8`);
  }
}
