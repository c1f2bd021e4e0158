import { EXTENT_METERS_MAX, EXTENT_METERS_MIN } from "../../../geofences/parse/rules.ts";
import { BodyReader, TOO_MANY_REPORTS } from "../../body/body-reader.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { CONTENT_ENCODING } from "../../openapi/operation.ts";
import {
  BODY_TOO_LARGE,
  exampleOf,
  failure,
  SENT_TO_RETRY,
  SENT_WITH_DATA,
} from "../../openapi/responses.ts";
import { flag, numberParameter } from "../../parameters/kinds.ts";
import { always, count, list, object, plain, text, type ValueOf } from "../../shapes/shape.ts";
import { fileBody, isFile, WRONG_TYPE } from "../app/imports.ts";
import { editOf } from "./read-watch.ts";
import { EXAMPLE_FENCE_ID, EXAMPLE_NEW_FENCE, WATCH_BODY_FAILURES } from "./shapes.ts";

const answer = object({
  success: always(true),
  dry_run: plain<boolean>({ type: "boolean", description: "Whether the file was only looked at." }),
  geofences: count("Geofences of the file."),
  ids: list(text("The ids of those that were made, in the order of the file.")),
  sequence: count("Position in the log after this request."),
});

function meters(description: string, fallback: number) {
  const bounds = { description, minimum: EXTENT_METERS_MIN, maximum: EXTENT_METERS_MAX };
  return numberParameter("number", bounds, fallback);
}

const EXAMPLE = { type: "FeatureCollection", features: [EXAMPLE_NEW_FENCE] };

export const importGeofences = queryEndpoint({
  operationId: "importGeofences",
  tag: "Geofences",
  summary: "Makes the geofences of a file",
  description: [
    "Of a GeoJSON FeatureCollection, of KML, or of GPX, whose routes become corridors and whose waypoints become",
    "circles. Makes all of them or, if one is not valid, none. The file is the body, at most 16 MiB before and after",
    "decompression, and is read in a process of its own, within 10 seconds and 256 MiB of memory.",
  ].join(" "),
  method: "POST",
  permission: "manage",
  path: "/api/v1/geofences/import",
  inPath: {},
  query: {
    dry_run: flag("Makes nothing, and answers what the file has.", "boolean"),
    radius_meters: meters("The radius of points in KML and of waypoints in GPX, in meters.", 100),
    buffer_meters: meters("How far lines in KML and routes in GPX reach to their sides, in meters.", 50),
  },
  headers: [CONTENT_ENCODING],
  body: fileBody(EXAMPLE),
  answer: {
    name: "GeofencesImported",
    description: "They are on disk and in force.",
    shape: answer,
    example: { success: true, dry_run: false, geofences: 1, ids: [EXAMPLE_FENCE_ID], sequence: 4711 },
  },
  failures: {
    ...WATCH_BODY_FAILURES,
    413: failure("The file is larger than 16 MiB.", SENT_WITH_DATA, ["PlainError"], BODY_TOO_LARGE),
    415: failure("The media type is not that of a file.", SENT_WITH_DATA, ["PlainError"], {
      media_type: exampleOf(WRONG_TYPE),
    }),
    503: failure(
      "Another file is being read, or the server takes no changes.",
      SENT_TO_RETRY,
      ["PlainError"],
      {
        busy: exampleOf({
          ...{ kind: "unavailable", message: "another file is being read; send this one again shortly" },
          retryAfterSeconds: 5,
        }),
      },
    ),
  },
  open({ bodies, uploads, editWatches }) {
    const reader = new BodyReader();
    return async (call, { dry_run, radius_meters: radiusMeters, buffer_meters: bufferMeters }) => {
      if (!isFile(call.request.headers.get("content-type"))) return call.fail(WRONG_TYPE);
      const share = bodies.begin(call);
      if (share === null) return call.fail(TOO_MANY_REPORTS);
      try {
        const file = await reader.read(call.request, share);
        if (!file.ok) return call.fail(file.error);
        const { appId } = call;
        const extents = { radiusMeters, bufferMeters };
        const drafts = await uploads.readFences({ appId, file: file.value, extents }, call.request);
        if (!drafts.ok) return call.fail(drafts.error);
        const imported = await editWatches.import(editOf(call), drafts.value, dry_run);
        if (!imported.ok) return call.fail(imported.error);
        const { ids, sequence } = imported.value;
        const body: ValueOf<typeof answer> = {
          ...{ success: true, dry_run, geofences: drafts.value.length, ids: [...ids], sequence },
        };
        return call.object(body, 200);
      } finally {
        share.end();
      }
    };
  },
});
