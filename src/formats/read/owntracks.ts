import { type JsonObject, readText } from "../../clients/reading/values.ts";
import type { PointSink } from "./file-point.ts";
import type { Beginning, Content, Format, ReadOptions } from "./format.ts";
import { firstThings, readObjects } from "./json/read-json.ts";
import { createReadMessage, parseMembers } from "./owntracks-messages.ts";
import { createLinePoints, type LineFormat, readPieces } from "./push-reader.ts";

/** The output of the Recorder's `ocat` and API, `{"count":…,"locations":[…]}`, and bare lists of messages. */
export const ownTracksMessages: Format = {
  name: "owntracks-json",
  title: "OwnTracks messages",
  extensions: [".json"],
  placeUnit: "byte",
  recognise(beginning) {
    const things = [...firstThings(beginning, "locations"), ...firstThings(beginning, null)];
    return things.some(({ _type }) => typeof _type === "string") ? 'its messages have a "_type"' : null;
  },
  read(content, sink, options) {
    const readMessage = createReadMessage(sink, options);
    const read = (message: JsonObject) => readMessage(message, recorderTopic(message));
    return readObjects(content, sink, { lists: ["locations"], isList: true }, read);
  },
};

/** The Recorder's API adds user and device to the app's message. */
function recorderTopic({ username, device }: JsonObject): string | null {
  const [user, name] = [readText(username), readText(device)];
  return user === null || name === null ? null : `owntracks/${user}/${name}`;
}

/** The files of OwnTracks' Recorder: `rec/<user>/<device>/<month>.rec`, a message per line. */
export const ownTracksRecorder: Format = {
  name: "owntracks-rec",
  title: "OwnTracks Recorder",
  extensions: [".rec"],
  placeUnit: "line",
  recognise,
  read: (content, sink, options) =>
    readPieces(content, createLinePoints(recorderLines(topicOf(content), sink, options), sink)),
};

/** The time of arrival, the kind of topic, and the message. */
const LINE = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z)\t([^\t]{1,64})\t(.*)$/s;

function recorderLines(topic: string | null, sink: PointSink, options: ReadOptions): LineFormat {
  const readMessage = createReadMessage(sink, options);
  return {
    readLine(text) {
      const message = parseMembers(LINE.exec(text)?.[3] ?? "");
      if (message === null) return sink.skip("unreadable"); // Often the last line, cut off as the Recorder ended.
      // Folder names are always in lower case.
      if (topic !== null && message._type === "location" && message.topic !== topic) sink.note("lower_cased");
      readMessage(message, topic);
    },
  };
}

/** The file's folders name user and device. */
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
