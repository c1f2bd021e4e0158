import { type Members, readText } from "../../../clients/reading/values.ts";
import type { Format } from "../format.ts";
import { firstThings } from "../json/first-things.ts";
import { readObjects } from "../json/read-cuts.ts";
import { createReadMessage } from "./kept-messages.ts";

/** What the Recorder's `ocat` and API answer, `{"count":…,"locations":[…]}`, and bare lists of messages. */
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
    const read = (message: Members) => readMessage(message, recorderTopic(message));
    return readObjects(content, sink, { lists: ["locations"], isList: true }, read);
  },
};

/** The Recorder's API names user and device beside what the app sent. */
function recorderTopic({ username, device }: Members): string | null {
  const [user, name] = [readText(username), readText(device)];
  return user === null || name === null ? null : `owntracks/${user}/${name}`;
}
