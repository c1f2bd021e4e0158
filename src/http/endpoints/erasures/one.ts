import { queryEndpoint } from "../../endpoint.ts";
import { always, object, type ValueOf } from "../../shapes/shape.ts";
import {
  EXAMPLE_ERASURE,
  EXAMPLE_REPORT,
  erasureId,
  MISSING_ERASURE,
  presentErasure,
  presentReport,
  reportedErasureShape,
} from "./shapes.ts";

const one = object({ success: always(true), erasure: reportedErasureShape });

export const oneErasure = queryEndpoint({
  operationId: "getErasure",
  tag: "App",
  summary: "How far an erasure is, and at the end its report",
  description: "The subject's id is not kept, so the answer does not name it.",
  permission: "erase",
  path: "/api/v1/erasures/:erasureId",
  inPath: { erasureId },
  query: {},
  answer: {
    name: "ErasureAnswer",
    description: "The erasure.",
    shape: one,
    example: { success: true, erasure: { ...EXAMPLE_ERASURE, report: EXAMPLE_REPORT } },
  },
  failures: { 404: MISSING_ERASURE },
  open({ erasures }) {
    return async (call, { erasureId }) => {
      const match = await erasures().find(call.appId, erasureId);
      if (match === null) return call.fail({ kind: "erasure_not_found" });
      const { state, report } = match;
      const erasure = {
        ...presentErasure(state),
        ...(report === null ? {} : { report: presentReport(report) }),
      };
      const body: ValueOf<typeof one> = { success: true, erasure };
      return call.object(body, 200);
    };
  },
});
