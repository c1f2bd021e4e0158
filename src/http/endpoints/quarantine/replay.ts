import { createReplay } from "../../../service/upkeep/replay.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { always, count, object, plain, type ValueOf } from "../../shapes/shape.ts";
import { entryId, MISSING_ENTRY } from "./entry-shapes.ts";

const answer = object({
  success: always(true),
  accepted: count("Reports that are new or change what is stored; all of them are on disk."),
  duplicates: count("Reports that change nothing."),
  refused: count("Points that still can't be used."),
  is_kept: plain<boolean>({ type: "boolean", description: "Whether the entry stays in the quarantine." }),
});

export const quarantineReplay = queryEndpoint({
  operationId: "replayQuarantineEntry",
  tag: "App",
  summary: "Processes an entry of the quarantine again",
  description: [
    "As if it had arrived only now, but with its original time of arrival. The entry is deleted once its points are on",
    "disk; if it still can't be used, it stays.",
  ].join(" "),
  method: "POST",
  forWholeApp: true,
  path: "/api/v1/quarantine/:entryId/replay",
  inPath: { entryId },
  query: {},
  answer: {
    name: "QuarantineReplay",
    description: "The result.",
    shape: answer,
    example: { success: true, accepted: 1, duplicates: 0, refused: 0, is_kept: false },
  },
  failures: { 404: MISSING_ENTRY },
  open(services) {
    const replay = createReplay(services);
    return async (call, { entryId }) => {
      const replayed = await replay(call.appId, entryId);
      if (!replayed.ok) return call.fail(replayed.error);
      if (replayed.value === null) return call.fail({ kind: "entry_not_found" });
      const { accepted, duplicates, refused, isKept } = replayed.value;
      const body: ValueOf<typeof answer> = { success: true, accepted, duplicates, refused, is_kept: isKept };
      return call.object(body, 200);
    };
  },
});
