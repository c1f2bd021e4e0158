import type { PointSink } from "../file-point.ts";
import type { Beginning, Content, Format, ReadOptions } from "../format.ts";
import { createLinePoints, type LineFormat } from "../line-points.ts";
import { readPieces } from "../push-reader.ts";
import { createReadMessage } from "./kept-messages.ts";
import { parseMembers } from "./open-message.ts";

/** What OwnTracks' Recorder keeps: `rec/<user>/<device>/<month>.rec`, a message a line. */
export const ownTracksRecorder: Format = {
  name: "owntracks-rec",
  title: "OwnTracks Recorder",
  extensions: [".rec"],
  placeUnit: "line",
  recognise,
  read: (content, sink, options) =>
    readPieces(content, createLinePoints(recorderLines(topicOf(content), sink, options), sink)),
};

/** When it came, which kind of topic it came under, and the message. */
const LINE = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z)\t([^\t]{1,64})\t(.*)$/s;

function recorderLines(topic: string | null, sink: PointSink, options: ReadOptions): LineFormat {
  const readMessage = createReadMessage(sink, options);
  return {
    readLine(text) {
      const message = parseMembers(LINE.exec(text)?.[3] ?? "");
      if (message === null) return sink.skip("unreadable"); // The last line often is: the Recorder was ended in it.
      // Folders are in lower case, whatever the phone is called.
      if (topic !== null && message._type === "location" && message.topic !== topic) sink.note("lower_cased");
      readMessage(message, topic);
    },
  };
}

/** The folders of the file tell whose it is. */
function topicOf({ name, folders }: Content): string | null {
  const [user, device] = folders.slice(-2);
  return user === undefined || device === undefined || !name.endsWith(".rec")
    ? null
    : `owntracks/${user}/${device}`;
}

function recognise({ text }: Beginning): string | null {
  return LINE.test(text.split("\n", 1)[0]!.trimEnd())
    ? "lines of a time, a kind of topic and a message"
    : null;
}
