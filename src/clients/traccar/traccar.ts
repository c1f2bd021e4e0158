import type { Steps } from "../../lib/schedule/steps.ts";
import { type Client, type ClientMessage, plainFailure } from "../client.ts";
import type { MessageSink } from "../point.ts";
import { contextOf, readFlat } from "../reading/read-message.ts";
import { isJsonObject } from "../reading/values.ts";
import { findInLocation, hasCoords } from "./location.ts";
import { findInParameters } from "./parameters.ts";

/** Traccar Client 8 (a query), 9 (JSON) and 10 (a form), and what else Traccar's server accepts from phones. */
export const traccar: Client = {
  name: "traccar",
  // Version 8 puts everything in the URL, so its POST survives a redirect that turns it into a GET.
  methods: ["POST", "GET"],
  takesQuery: true,
  recognizes: hasCoords,
  speaks: hasCoords,
  read: readTraccar,
  // Empty, because version 9 executes commands that it finds under `background_geolocation` in a body.
  success: { contentType: null, body: "" },
  failure: plainFailure,
  retriesAtOnce: false,
  mustNameDevice: true,
};

function* readTraccar(message: ClientMessage, sink: MessageSink): Steps<void> {
  const inLocation = contextOf(message, "mps");
  const inParameters = contextOf(message, "kn");
  yield* readFlat(message, sink, (members) =>
    // In a form `location` is a text with two numbers.
    isJsonObject(members.location)
      ? findInLocation(members, inLocation)
      : findInParameters(members, inParameters),
  );
}
