import {
  COLOR_PATTERN,
  DEVICE_ICONS,
  METADATA_BYTES_MAX,
  METADATA_DEPTH_MAX,
  NAME_CHARACTERS_MAX,
  TAG_CHARACTERS_MAX,
  TAGS_MAX,
} from "../../../model/device-profile.ts";
import { exampleOf, failure, SENT_WITH_DATA } from "../../openapi/responses.ts";
import { closed, type Schema, type Schemas } from "../../shapes/shape.ts";

/* What the endpoints of device profiles share. */

const NO_CONTROL_CHARACTERS = "^[^\\u0000-\\u001f\\u007f-\\u009f]+$";

function textSchema(charactersMax: number, description: string): Schema {
  return {
    type: "string",
    minLength: 1,
    maxLength: charactersMax,
    pattern: NO_CONTROL_CHARACTERS,
    description,
  };
}

export const PROFILE_MEMBERS: Schemas = {
  name: textSchema(NAME_CHARACTERS_MAX, "What people call the device."),
  color: { type: "string", pattern: COLOR_PATTERN.source, description: "Its color on the map, `#rrggbb`." },
  icon: { type: "string", enum: DEVICE_ICONS, description: "Its icon on the map." },
  tags: {
    type: "array",
    maxItems: TAGS_MAX,
    items: textSchema(TAG_CHARACTERS_MAX, "A tag."),
    description: "Words to find it by, each once.",
  },
  metadata: {
    type: "object",
    additionalProperties: true,
    description: `Anything else: at most ${METADATA_BYTES_MAX} bytes as JSON, nested at most ${METADATA_DEPTH_MAX} deep.`,
  },
};

export const PROFILE_SCHEMA = closed({}, PROFILE_MEMBERS, "Members that the profile lacks are absent.");

/** The body of a request. */
export const NEW_PROFILE_SCHEMA = closed(
  {},
  {
    ...Object.fromEntries(
      Object.entries(PROFILE_MEMBERS).map(([name, schema]) => [name, { ...schema, nullable: true }]),
    ),
    icon: { ...PROFILE_MEMBERS.icon, nullable: true, enum: [...DEVICE_ICONS, null] },
  },
  "The whole profile: members that are absent or null are removed.",
);

export const EXAMPLE_PROFILE = {
  name: "Bus 42",
  color: "#1a73e8",
  icon: "bus",
  tags: ["line 10"],
  metadata: { plate: "AB12 CDE" },
} as const;

export const MISSING_PROFILE = failure("The app's device has no profile.", SENT_WITH_DATA, ["PlainError"], {
  profile_not_found: exampleOf({ kind: "profile_not_found" }),
});

/** Longer than every profile, even with each character escaped. */
export const BODY_BYTES_MAX = 64 * 1024;

const message = (text: string) => ({ success: false, message: text });

/** What a body that is no profile is answered. */
export const BODY_FAILURES: Readonly<Record<number, Schema>> = {
  400: failure("The device id or the body is not valid.", SENT_WITH_DATA, ["PlainError"], {
    invalid_color: message("color must be # and six hexadecimal digits"),
    unreadable: message("the body must be a JSON object"),
  }),
  413: failure("The body is too long.", SENT_WITH_DATA, ["PlainError"], {
    too_large: message(`the body must be at most ${BODY_BYTES_MAX / 1024} KiB`),
  }),
  415: failure("The body is of another type.", SENT_WITH_DATA, ["PlainError"], {
    wrong_type: message("content-type must be application/json"),
  }),
};
