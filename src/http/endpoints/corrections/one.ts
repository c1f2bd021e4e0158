import { queryEndpoint } from "../../endpoint.ts";
import { exampleOf, failure, SENT_WITH_DATA } from "../../openapi/responses.ts";
import { always, count, object, type ValueOf } from "../../shapes/shape.ts";
import {
  correctionId,
  correctionShape,
  EXAMPLE_CORRECTION,
  EXAMPLE_CORRECTION_ID,
  MISSING_CORRECTION,
  presentCorrection,
} from "./shapes.ts";

const PATH = "/api/v1/corrections/:correctionId";

const one = object({ success: always(true), correction: correctionShape });

export const oneCorrection = queryEndpoint({
  operationId: "getCorrection",
  tag: "App",
  summary: "One correction",
  description: "Active or undone.",
  permission: "edit",
  path: PATH,
  inPath: { correctionId },
  query: {},
  answer: {
    name: "CorrectionAnswer",
    description: "The correction.",
    shape: one,
    example: { success: true, correction: EXAMPLE_CORRECTION },
  },
  failures: { 404: MISSING_CORRECTION },
  open({ hot }) {
    return (call, { correctionId }) => {
      const item = hot.corrections.find(call.appId)?.byId.get(correctionId);
      if (item === undefined) return call.fail({ kind: "correction_not_found" });
      const body: ValueOf<typeof one> = { success: true, correction: presentCorrection(item) };
      return call.object(body, 200);
    };
  },
});

const undone = object({
  success: always(true),
  correction: correctionShape,
  sequence: count("Position in the log after this request."),
});

export const undoCorrection = queryEndpoint({
  operationId: "undoCorrection",
  tag: "App",
  summary: "Undoes a correction",
  description: [
    "All answers are as before it, with all reports that came in between. Undoing it again changes nothing. If later",
    "corrections touch the same records, these must be undone first.",
  ].join(" "),
  method: "DELETE",
  permission: "edit",
  path: PATH,
  inPath: { correctionId },
  query: {},
  answer: {
    name: "CorrectionUndone",
    description: "The correction, which is undone.",
    shape: undone,
    example: { success: true, correction: { ...EXAMPLE_CORRECTION, state: "undone" }, sequence: 4712 },
  },
  failures: {
    404: MISSING_CORRECTION,
    409: failure("Later corrections touch the same records.", SENT_WITH_DATA, ["PlainError"], {
      corrected_later: exampleOf({ kind: "corrected_later", ids: [EXAMPLE_CORRECTION_ID] }),
    }),
  },
  open({ correct }) {
    return async (call, { correctionId }) => {
      const outcome = await correct.undo(call.appId, correctionId, call.keyId, call.request);
      if (!outcome.ok) return call.fail(outcome.error);
      const { item, sequence } = outcome.value;
      const body: ValueOf<typeof undone> = { success: true, correction: presentCorrection(item), sequence };
      return call.object(body, 200);
    };
  },
});
