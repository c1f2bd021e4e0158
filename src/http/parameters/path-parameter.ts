import { assert } from "../../lib/assert.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { parsePlainDecimal } from "../../lib/text/decimal.ts";
import { percentDecoded } from "../../lib/text/percent.ts";
import type { ServiceError } from "../../model/errors.ts";
import { ANONYMOUS, type DeviceId, type UserId } from "../../model/ids.ts";
import { deviceIdFault } from "../../model/report.ts";
import { pathnameOf, segmentAt } from "../request.ts";
import { EXAMPLE_REPORT } from "../shapes/record-schemas.ts";
import type { Schema } from "../shapes/shape.ts";
import { invalid, type Parameter } from "./parameter.ts";

/**
 * A variable segment of a path such as `/api/v1/devices/:deviceId/...`: how to read it, and its OpenAPI description.
 */
export interface PathParameter<Value> {
  readonly description: string;
  readonly schema: Schema;
  /** The value in the document's examples, and in tests unless `test/unit/http/requests.ts` has a better one. */
  readonly example: string;
  /** Whether an empty segment has its own error; no router matches one as a parameter. */
  readonly refusesEmpty: boolean;
  /** The error of a readable but invalid segment; null if all are valid. */
  readonly refusal: PathRefusal | null;
  /** `text` is decoded. */
  parse(text: string): Result<Value, ServiceError>;
}

/** For the document: why a segment is refused, an example of the error, and the name of its body. */
export interface PathRefusal {
  readonly description: string;
  readonly error: ServiceError;
  readonly body: string;
}

export type PathParameters = Readonly<Record<string, PathParameter<unknown>>>;

/** Names of the variable segments of a path. */
export type PathNames<Path extends string> = Path extends `${string}/:${infer Segment}/${infer Rest}`
  ? NameOf<Segment> | PathNames<`/${Rest}`>
  : Path extends `${string}/:${infer Segment}`
    ? NameOf<Segment>
    : never;

/** A variable segment may end in a suffix, as in `:y.mvt`. */
type NameOf<Segment extends string> = Segment extends `${infer Name}.${string}` ? Name : Segment;

export type PathValues<Parameters> = {
  readonly [Name in keyof Parameters]: Parameters[Name] extends PathParameter<infer Value> ? Value : never;
};

/** A segment without restrictions. */
export function textSegment(description: string, example: string): PathParameter<string> {
  return {
    description,
    schema: { type: "string", minLength: 1 },
    example,
    refusesEmpty: false,
    refusal: null,
    parse: (text) => ok(text),
  };
}

export const deviceId = textSegment("The device.", String(EXAMPLE_REPORT.device_id));

/** A device that need not have reported. */
export const newDeviceId: PathParameter<DeviceId> = {
  ...deviceId,
  description: "The device, which need not have reported yet.",
  schema: { type: "string", minLength: 1, maxLength: 128 },
  parse: (text) =>
    deviceIdFault(text) === null
      ? ok(text as DeviceId)
      : invalid("device_id must be 1 to 128 characters, none of them control characters, and not . or .."),
};

export const userId: PathParameter<UserId> = {
  description: `The user; neither blank nor ${ANONYMOUS}, the user of reports without one.`,
  schema: { type: "string", pattern: "\\S", not: { enum: [ANONYMOUS] } },
  example: String(EXAMPLE_REPORT.user_id),
  refusesEmpty: true,
  refusal: {
    description: `the user id is blank or ${ANONYMOUS}`,
    error: { kind: "invalid_user_id", message: `user_id must not be ${ANONYMOUS}` },
    body: "UserIdError",
  },
  parse(text) {
    const message = faultOfUser(text);
    return message === null ? ok(text as UserId) : fail({ kind: "invalid_user_id", message });
  },
};

/** The user as an optional query parameter. */
export const optionalUserId: Parameter<UserId | null> = {
  description: `Only records of this user, who is not ${ANONYMOUS}. Defaults to all users.`,
  required: false,
  schema: userId.schema,
  parse(_name, text) {
    if (text === null) return ok(null);
    const message = faultOfUser(text);
    return message === null ? ok(text as UserId) : invalid(message);
  },
};

/** Why a text can't be a user id in a query, or null. */
function faultOfUser(text: string): string | null {
  if (text.trim() === "") return "user_id must not be empty";
  return text === ANONYMOUS ? `user_id must not be ${ANONYMOUS}` : null;
}

/** A whole number from 0. */
export function wholeNumber(
  name: string,
  { description, maximum, example }: { description: string; maximum: number; example: number },
): PathParameter<number> {
  return {
    description,
    schema: { type: "integer", minimum: 0, maximum },
    example: String(example),
    refusesEmpty: false,
    refusal: null,
    parse(text) {
      const value = parsePlainDecimal(text);
      return /^\d+$/.test(text) && value <= maximum
        ? ok(value)
        : invalid(`${name} in the path must be an integer between 0 and ${maximum}`);
    },
  };
}

/** The position of a parameter among the segments of its path. */
export interface PathSegment {
  readonly name: string;
  readonly index: number;
  /** The fixed end of the segment, mostly empty. */
  readonly suffix: string;
  readonly parameter: PathParameter<unknown>;
}

export function segmentsOf(path: string, parameters: PathParameters): readonly PathSegment[] {
  const segments = path.split("/").flatMap((segment, index): PathSegment[] => {
    const [, name, suffix] = /^:(\w+)(.*)$/.exec(segment) ?? [];
    if (name === undefined || suffix === undefined) return [];
    const parameter = parameters[name];
    assert(parameter !== undefined, "every variable segment of a path is one of its parameters");
    return [{ name, index, suffix, parameter }];
  });
  assert(segments.length === Object.keys(parameters).length, "every parameter is a segment of the path");
  return segments;
}

/**
 * Reads the variable segments of a URL into `values`, percent-decoded; returns an error or null. It reads the URL
 * itself, because runtimes differ in how the framework treats bytes that aren't UTF-8.
 */
export function readPath(
  url: string,
  segments: readonly PathSegment[],
  values: Record<string, unknown>,
): ServiceError | null {
  if (segments.length === 0) return null;
  const pathname = pathnameOf(url);
  for (const { name, index, suffix, parameter } of segments) {
    const segment = segmentAt(pathname, index);
    if (!segment.endsWith(suffix)) return lacksSuffix(name, suffix);
    const text = percentDecoded(segment.slice(0, segment.length - suffix.length));
    if (text === null) return unreadable(name);
    const parsed = parameter.parse(text);
    if (!parsed.ok) return parsed.error;
    values[name] = parsed.value;
  }
  return null;
}

function lacksSuffix(name: string, suffix: string): ServiceError {
  return { kind: "invalid_parameter", message: `${name} in the path must be followed by ${suffix}` };
}

/** The error of a segment that is not valid text. */
export function unreadable(name: string): ServiceError {
  return { kind: "invalid_parameter", message: `${name} in the path must be percent-encoded UTF-8` };
}
