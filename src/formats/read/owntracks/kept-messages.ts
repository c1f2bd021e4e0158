import type { Members } from "../../../clients/reading/values.ts";
import type { PointSink } from "../file-point.ts";
import type { ReadOptions } from "../format.ts";
import { pointOfMessage } from "./message-point.ts";
import { createOpenMessage } from "./open-message.ts";

/** Takes the positions from OwnTracks' messages that a file has kept; `topic` is what else tells theirs. */
export type ReadMessage = (message: Members, topic: string | null) => void;

export function createReadMessage(sink: PointSink, options: ReadOptions): ReadMessage {
  const open = createOpenMessage(options.passPhrases);
  return (message, topic) => {
    const clear = open(message);
    if (clear === null) sink.skip("encrypted");
    else if (clear._type !== "location") sink.skip("no_location");
    else {
      const point = pointOfMessage(clear, topic, options);
      if (point === null) sink.skip("no_position");
      else sink.add(point);
    }
  };
}
