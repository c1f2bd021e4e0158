import { Buffer } from "node:buffer";
import type { FoundMessageEntry } from "../../../service/quarantine/entry.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { always, object, optional, plain, text, type ValueOf } from "../../shapes/shape.ts";
import { EXAMPLE_ENTRY, entryId, entryMembers, MISSING_ENTRY, presentEntry } from "./entry-shapes.ts";

const answer = object({
  success: always(true),
  ...entryMembers,
  method: text("GET, POST or MQTT."),
  path: text("The declared path, without keys; for a broker the topic."),
  query: text("Parameters of the URL, without keys."),
  headers: plain<Readonly<Record<string, string>>>({
    type: "object",
    additionalProperties: { type: "string" },
    description: "The headers that describe a report.",
  }),
  body: optional(text("The body if it is UTF-8; at most the first 64 KiB.")),
  body_base64: optional(text("The body if it is not UTF-8; at most the first 64 KiB.")),
});

/** A body may have megabytes, and six times as many characters in JSON, which would block the event loop. */
export const SHOWN_BYTES_MAX = 64 * 1024;

export const quarantineEntry = queryEndpoint({
  operationId: "getQuarantineEntry",
  tag: "App",
  summary: "An entry of the quarantine, with its content",
  description: "Includes personal data as it was sent. A long body is cut.",
  path: "/api/v1/quarantine/:entryId",
  inPath: { entryId },
  query: {},
  answer: {
    name: "QuarantineEntry",
    description: "The entry.",
    shape: answer,
    example: {
      success: true,
      ...EXAMPLE_ENTRY,
      method: "POST",
      path: "/ingest/overland",
      query: "",
      headers: { "user-agent": "Overland/1.3" },
      body: '{"locations":[]}',
    },
  },
  failures: { 404: MISSING_ENTRY },
  open({ quarantine }) {
    return async (call, { entryId }) => {
      const entry = await quarantine().find(call.appId, entryId);
      if (entry === null) return call.fail({ kind: "entry_not_found" });
      return call.object(present(entry), 200);
    };
  },
});

function present(entry: FoundMessageEntry): ValueOf<typeof answer> {
  return { success: true, ...presentContent(entry, SHOWN_BYTES_MAX) };
}

/** An entry with at most this many bytes of its body. */
export function presentContent({ summary, message }: FoundMessageEntry, bodyBytesMax: number) {
  const { method, path, query, headers, body } = message;
  return { ...presentEntry(summary), method, path, query, headers, ...presentBody(body, bodyBytesMax) };
}

function presentBody(
  body: Uint8Array,
  bytesMax: number,
): { readonly body: string } | { readonly body_base64: string } {
  const beginning = body.subarray(0, bytesMax);
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    // The cut may split a character.
    return { body: utf8.decode(beginning, { stream: beginning.length < body.length }) };
  } catch {
    return { body_base64: Buffer.from(beginning).toString("base64") };
  }
}
