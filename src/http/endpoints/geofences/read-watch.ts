import { fail, ok, type Result } from "../../../lib/result.ts";
import type { ServiceError } from "../../../model/errors.ts";
import type { WatchDraft } from "../../../model/watches/watch-rules.ts";
import type { EditRequest } from "../../../service/geofences/edit-watches.ts";
import { readShortObject } from "../../body/short-body.ts";
import type { Call } from "../../call.ts";
import { BODY_BYTES_MAX } from "./shapes.ts";

/** Media types of a fence or an alert. */
const MEDIA_TYPES = ["application/json", "application/geo+json"];

/** Reads the body of a request as a fence or an alert. */
export async function readWatch(
  request: Request,
  parse: (value: unknown) => Result<WatchDraft, string>,
): Promise<Result<WatchDraft, ServiceError>> {
  const members = await readShortObject(request, { bytesMax: BODY_BYTES_MAX, mediaTypes: MEDIA_TYPES });
  if (!members.ok) return members;
  const draft = parse(members.value);
  return draft.ok ? ok(draft.value) : fail({ kind: "invalid_parameter", message: draft.error });
}

export function editOf({ appId, keyId, nowMs, request }: Call): EditRequest {
  return { appId, keyId, nowMs, signal: request.signal };
}
