import { queryEndpoint } from "../../endpoint.ts";
import { always, object, type ValueOf } from "../../shapes/shape.ts";
import { entryId, MISSING_ENTRY } from "./entry-shapes.ts";

const answer = object({ success: always(true) });

export const quarantineDelete = queryEndpoint({
  operationId: "deleteQuarantineEntry",
  tag: "App",
  summary: "Deletes an entry of the quarantine",
  description: "Permanently.",
  method: "DELETE",
  forWholeApp: true,
  path: "/api/v1/quarantine/:entryId",
  inPath: { entryId },
  query: {},
  answer: {
    name: "QuarantineDeleted",
    description: "The entry is gone.",
    shape: answer,
    example: { success: true },
  },
  failures: { 404: MISSING_ENTRY },
  open({ quarantine }) {
    return async (call, { entryId }) => {
      const deleted = await quarantine().delete(call.appId, [entryId]);
      if (!deleted.ok) return call.fail(deleted.error);
      const body: ValueOf<typeof answer> = { success: true };
      return deleted.value === 0 ? call.fail({ kind: "entry_not_found" }) : call.object(body, 200);
    };
  },
});
