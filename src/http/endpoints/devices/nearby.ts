import { CLOSE_BRACE, OPEN_BRACKET } from "../../../lib/text/ascii.ts";
import { createFragment } from "../../../lib/text/json-writer.ts";
import { METERS_PER_MILE } from "../../../model/geo/distance.ts";
import type { AppId } from "../../../model/ids.ts";
import { localTimeFormatterOf } from "../../../model/time/local-time.ts";
import { MS_PER_HOUR } from "../../../model/time/units.ts";
import type { NearbyAnswer } from "../../../service/queries/nearby.ts";
import type { AnswerBuffer } from "../../encode/answer-buffer.ts";
import type { RecordForm } from "../../encode/chosen-records.ts";
import { sendWithPlaces, withPlaces } from "../../encode/place-marks.ts";
import { RecordNames } from "../../encode/record-names.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { accuracyMeters, limit, names, offset, places, timezone } from "../../parameters/common.ts";
import { fieldsOf } from "../../parameters/fields.ts";
import { numberParameter, requiredNumber } from "../../parameters/kinds.ts";
import type { QueryValues } from "../../parameters/parameter.ts";
import { roundedMs } from "../../shapes/history.ts";
import { anyRecord, EXAMPLE_REPORT, exampleRecord, field } from "../../shapes/record-schemas.ts";
import {
  always,
  amount,
  count,
  EXAMPLE_ASKED,
  EXAMPLE_COUNTS,
  list,
  object,
  pageAsked,
  pageCounts,
  plain,
  text,
} from "../../shapes/shape.ts";

const query = {
  latitude: requiredNumber("number", {
    description: "Center, degrees.",
    minimum: -90,
    maximum: 90,
    example: 53.41,
  }),
  longitude: requiredNumber("number", {
    description: "Center, degrees.",
    minimum: -180,
    maximum: 180,
    example: -2.98,
  }),
  radius_miles: numberParameter("number", { description: "Radius in miles.", minimum: 0, maximum: 50 }, 5),
  max_age_hours: numberParameter(
    "number",
    { description: "Omits locations older than this.", minimum: 0 },
    24,
  ),
  limit,
  offset,
  min_accuracy: accuracyMeters,
  timezone,
  places,
  fields: fieldsOf("current"),
  names,
};

/** `writeAnswer` writes this shape by hand, because this answer is requested most. */
const answer = object({
  success: always(true),
  app_id: text("Application of the key."),
  search_criteria: object({
    center: object({ latitude: field("latitude"), longitude: field("longitude") }),
    radius_miles: amount("As requested."),
    max_age_hours: amount("As requested."),
  }),
  results: list(
    object({
      device_id: text("Device identifier."),
      distance_miles: amount("Great circle from the center, with 4 decimals."),
      bearing_degrees: plain<number>({
        type: "number",
        minimum: 0,
        maximum: 360,
        description: "Initial bearing from the center, clockwise from true north, with 2 decimals.",
      }),
      location: plain(anyRecord("current")),
    }),
  ),
  pagination: object({
    ...pageCounts,
    ...pageAsked,
    total_matches: count("Matching devices before paging."),
  }),
  total_candidates: count("Devices that the index proposed; at least total_matches."),
  query_time_ms: amount("Duration of the query, in milliseconds."),
});

export const nearby = queryEndpoint({
  operationId: "getNearbyDevices",
  tag: "Nearby",
  summary: "Devices within a radius of a point",
  description: "By their latest positions; nearest first, then by device_id.",
  path: "/api/v1/devices/nearby",
  inPath: {},
  query,
  wrongQuery: "latitude=91&longitude=0",
  answer: {
    name: "Nearby",
    description: "One page of the devices.",
    shape: answer,
    example: {
      success: true,
      app_id: "default",
      search_criteria: {
        center: { latitude: 53.41, longitude: -2.98 },
        radius_miles: 5,
        max_age_hours: 24,
      },
      results: [
        {
          device_id: EXAMPLE_REPORT.device_id,
          distance_miles: 3.6218,
          bearing_degrees: 44.79,
          location: exampleRecord("current"),
        },
      ],
      pagination: { ...EXAMPLE_COUNTS, ...EXAMPLE_ASKED, total_matches: 1 },
      total_candidates: 3,
      query_time_ms: 0.087,
    },
  },
  open({ nearby, answers, loadPlaces, hot }) {
    return (call, values) => {
      const { latitude, longitude, radius_miles, max_age_hours, limit, offset, min_accuracy } = values;
      const criteria = {
        latitude,
        longitude,
        radiusMeters: radius_miles * METERS_PER_MILE,
        ageMsMax: max_age_hours * MS_PER_HOUR,
        accuracyMetersMax: min_accuracy,
        offset,
        limit,
      };
      const deviceNames = values.names ? new RecordNames(hot.profiles, call.appId) : null;
      return withPlaces(values.places ? loadPlaces() : null, (marks) =>
        nearby(call.appId, criteria, call.request, (page) => {
          const extras = { marks, names: deviceNames };
          const written = writeAnswer(answers, call.appId, page, values, extras, call.elapsedMs());
          return sendWithPlaces(call, written, marks);
        }),
      );
    };
  },
});

function writeAnswer(
  answers: AnswerBuffer,
  appId: AppId,
  page: NearbyAnswer | null,
  {
    latitude,
    longitude,
    radius_miles,
    max_age_hours,
    offset,
    limit,
    timezone,
    fields,
  }: QueryValues<typeof query>,
  extras: Pick<RecordForm, "marks" | "names">,
  elapsedMs: number,
): Uint8Array<ArrayBuffer> {
  const { count, matches, candidates } = page ?? NO_DEVICES;
  const json = answers.begin();
  json.fragment(APP_ID);
  json.value(appId);
  json.fragment(LATITUDE);
  json.number(latitude);
  json.fragment(LONGITUDE);
  json.number(longitude);
  json.fragment(RADIUS);
  json.number(radius_miles);
  json.fragment(AGE);
  json.number(max_age_hours);
  json.fragment(RESULTS);
  const start = json.length;
  const localTime = localTimeFormatterOf(timezone);
  if (page !== null) answers.records.writeNearby(json, page.records, page, { fields, localTime, ...extras });
  if (count === 0) json.byte(OPEN_BRACKET);
  else json.bytes[start] = OPEN_BRACKET; // Replaces the first item's comma.
  json.fragment(COUNT);
  json.number(count);
  json.fragment(offset + count < matches ? MORE : NO_MORE);
  json.number(offset);
  json.fragment(LIMIT);
  json.number(limit);
  json.fragment(MATCHES);
  json.number(matches);
  json.fragment(CANDIDATES);
  json.number(candidates);
  json.fragment(TIME);
  json.number(roundedMs(elapsedMs));
  json.byte(CLOSE_BRACE);
  return json.written();
}

const NO_DEVICES = { count: 0, matches: 0, candidates: 0 };

// The texts between the values. Strings would cost a third of the answer's frame.
const APP_ID = createFragment('{"success":true,"app_id":');
const LATITUDE = createFragment(',"search_criteria":{"center":{"latitude":');
const LONGITUDE = createFragment(',"longitude":');
const RADIUS = createFragment('},"radius_miles":');
const AGE = createFragment(',"max_age_hours":');
const RESULTS = createFragment('},"results":');
const COUNT = createFragment('],"pagination":{"count":');
const MORE = createFragment(',"has_more":true,"offset":');
const NO_MORE = createFragment(',"has_more":false,"offset":');
const LIMIT = createFragment(',"limit":');
const MATCHES = createFragment(',"total_matches":');
const CANDIDATES = createFragment('},"total_candidates":');
const TIME = createFragment(',"query_time_ms":');
