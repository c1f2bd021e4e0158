import { exampleOf } from "../../openapi/error-bodies.ts";
import { failure, SENT_WITH_DATA } from "../../openapi/responses.ts";
import { EXAMPLE_REPORT } from "../../shapes/record-schemas.ts";
import type { Schema } from "../../shapes/schema.ts";

/** What is answered about a device that the app doesn't have. */

export const UNKNOWN_DEVICE = exampleOf({
  kind: "device_not_found",
  deviceId: String(EXAMPLE_REPORT.device_id),
});

/** The 404 of an endpoint with a device in its path: it has a body of its own. */
export function missingDevice(body: string, example: unknown): Schema {
  return failure(
    "The device is unknown or belongs to another app; or there is nothing at this path.",
    SENT_WITH_DATA,
    [body, "PlainError"],
    { unknown_device: example, no_such_path: exampleOf({ kind: "no_such_path" }) },
  );
}
