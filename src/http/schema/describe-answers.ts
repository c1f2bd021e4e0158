import { EXAMPLE_REPORT, exampleRecord, fieldSchemas, recordRef } from "./describe-records.ts";
import { always, amount, closed, count, list, type Members, ref, text } from "./describe-schema.ts";
import type { Schema } from "./parameter.ts";

/** The bodies of answers that went well, each with an example, by the name it has in the document. */

export interface DescribedBody {
  readonly schema: Schema;
  readonly example: unknown;
}

const success = always(true);
const appId = text("Application of the key.");
const deviceId = text("The device that was asked for.");
const userId = text("The user that was asked for.");
const deviceCount = count("Items in the array beside it.");
const coordinates = fieldSchemas("latitude", "longitude");
const moment: Schema = { type: "integer", format: "int64", description: "Unix milliseconds." };

const counted = {
  count: count("Items in this answer."),
  has_more: { type: "boolean", description: "Whether more items follow them." },
};
const paged = {
  offset: count("As asked for."),
  limit: { type: "integer", format: "int64", minimum: 1, maximum: 1000, description: "As asked for." },
};

const queryInfo = {
  time_range: closed({
    start: { type: "string", format: "date-time", description: "First instant of start_date, in UTC." },
    end: { type: "string", format: "date-time", description: "Last millisecond of end_date, in UTC." },
  }),
  data_scanned_mb: amount("What the query read, in megabytes of 1,000,000 bytes."),
  query_time_ms: amount("Time it took, in milliseconds."),
};

const maybeIncomplete = {
  incomplete: {
    type: "boolean",
    enum: [true],
    description: "Present where records are missing that an operator has acknowledged as lost.",
  },
};

const distance = {
  meters: amount("Length of the path through all positions of the day that pass the filter."),
  miles: amount("The same in miles of 1609.344 m."),
};

const summary = closed(
  {
    ...fieldSchemas("device_id"),
    last_seen: { ...moment, description: "Latest fix time, Unix milliseconds." },
    last_location: closed({ ...coordinates, timestamp: moment }),
  },
  fieldSchemas("battery_level", "battery_status", "network_status", "model", "os_version"),
  "A device with its latest position; what that position's report left out is absent.",
);

const example = {
  app_id: "default",
  device_id: EXAMPLE_REPORT.device_id,
  user_id: EXAMPLE_REPORT.user_id,
  coordinates: { latitude: EXAMPLE_REPORT.latitude, longitude: EXAMPLE_REPORT.longitude },
  counted: { count: 1, has_more: false },
  paged: { offset: 0, limit: 100 },
  queryInfo: {
    time_range: { start: "2026-01-26T00:00:00.000Z", end: "2026-01-26T23:59:59.999Z" },
    data_scanned_mb: 0.000162,
    query_time_ms: 0.214,
  },
};

export const ANSWERS = {
  UserCurrent: {
    schema: closed({
      success,
      user_id: userId,
      device_count: deviceCount,
      locations: list(recordRef("current")),
    }),
    example: {
      success: true,
      user_id: example.user_id,
      device_count: 1,
      locations: [exampleRecord("current")],
    },
  },
  UserHistory: {
    schema: closed(
      {
        user_id: userId,
        locations: list(recordRef("userHistory")),
        pagination: closed({
          ...counted,
          total_estimated: count("Items before paging; never below offset + count."),
          ...paged,
        }),
        query_info: closed(
          {
            ...queryInfo,
            source: {
              type: "string",
              enum: ["hot", "archive", "hot+archive"],
              description: "What served the query: memory, the archive, or both.",
            },
          },
          maybeIncomplete,
        ),
      },
      {
        distance_travelled: closed({
          ...distance,
          by_device: {
            type: "object",
            description: "Meters by device; together they make the sum.",
            additionalProperties: amount("Meters."),
          },
        }),
      },
    ),
    example: {
      user_id: example.user_id,
      locations: [exampleRecord("userHistory")],
      pagination: { ...example.counted, total_estimated: 1, ...example.paged },
      query_info: { ...example.queryInfo, source: "hot" },
    },
  },
  UserDevices: {
    schema: closed({
      user_id: userId,
      device_count: deviceCount,
      devices: list(ref("schemas", "DeviceSummary")),
    }),
    example: {
      user_id: example.user_id,
      device_count: 1,
      devices: [
        {
          device_id: example.device_id,
          last_seen: EXAMPLE_REPORT.timestamp,
          last_location: { ...example.coordinates, timestamp: EXAMPLE_REPORT.timestamp },
          battery_level: EXAMPLE_REPORT.battery_level,
          battery_status: EXAMPLE_REPORT.battery_status,
          network_status: EXAMPLE_REPORT.network_status,
          model: EXAMPLE_REPORT.model,
          os_version: EXAMPLE_REPORT.os_version,
        },
      ],
    },
  },
  DeviceCurrent: {
    schema: closed({ success, device_id: deviceId, location: recordRef("deviceCurrent") }),
    example: { success: true, device_id: example.device_id, location: exampleRecord("deviceCurrent") },
  },
  DeviceHistory: {
    schema: closed(
      {
        success,
        device_id: deviceId,
        locations: list(recordRef("deviceHistory")),
        pagination: closed(counted),
        query_info: closed(queryInfo, maybeIncomplete),
      },
      { distance_travelled: closed(distance) },
    ),
    example: {
      success: true,
      device_id: example.device_id,
      locations: [exampleRecord("deviceHistory")],
      pagination: example.counted,
      query_info: example.queryInfo,
    },
  },
  AppCurrent: {
    schema: closed({
      success,
      app_id: appId,
      locations: list(recordRef("current")),
      pagination: closed({ ...counted, total_count: count("Items before paging."), ...paged }),
    }),
    example: {
      success: true,
      app_id: example.app_id,
      locations: [exampleRecord("current")],
      pagination: { ...example.counted, total_count: 1, ...example.paged },
    },
  },
  AppHistory: {
    schema: closed({
      success,
      app_id: appId,
      locations: list(recordRef("appHistory")),
      pagination: closed({
        ...counted,
        total_devices: count("Devices with a matching record in the range."),
      }),
      query_info: closed({ ...queryInfo, devices_queried: count("Devices of the app.") }, maybeIncomplete),
    }),
    example: {
      success: true,
      app_id: example.app_id,
      locations: [exampleRecord("appHistory")],
      pagination: { ...example.counted, total_devices: 1 },
      query_info: { ...example.queryInfo, devices_queried: 1 },
    },
  },
  Nearby: {
    schema: closed({
      success,
      app_id: appId,
      search_criteria: closed({
        center: closed(coordinates),
        radius_miles: amount("As asked for."),
        max_age_hours: amount("As asked for."),
      }),
      results: list(
        closed({
          device_id: text("Device identifier."),
          distance_miles: amount("Great circle from the center, with 4 decimals."),
          bearing_degrees: {
            type: "number",
            minimum: 0,
            maximum: 360,
            description: "Initial bearing from the center, clockwise from true north, with 2 decimals.",
          },
          location: recordRef("current"),
        }),
      ),
      pagination: closed({ ...counted, ...paged, total_matches: count("Matching devices before paging.") }),
      total_candidates: count("Devices the index proposed; at least total_matches."),
      query_time_ms: amount("Time it took, in milliseconds."),
    }),
    example: {
      success: true,
      app_id: example.app_id,
      search_criteria: {
        center: { latitude: 53.41, longitude: -2.98 },
        radius_miles: 5,
        max_age_hours: 24,
      },
      results: [
        {
          device_id: example.device_id,
          distance_miles: 3.6218,
          bearing_degrees: 44.79,
          location: exampleRecord("current"),
        },
      ],
      pagination: { ...example.counted, ...example.paged, total_matches: 1 },
      total_candidates: 3,
      query_time_ms: 0.087,
    },
  },
  IngestResult: {
    schema: closed({
      success,
      accepted: count("Reports that are new or change what is stored; all of them are on disk."),
      duplicates: count("Reports that change nothing."),
      rejected: list(
        closed(
          {
            index: count("The report's position in the request, from 0."),
            message: text("What is wrong with it."),
          },
          { device_id: text("As the report has it; absent where it has none that can be shown.") },
        ),
      ),
      sequence: count("Position in the log after this request."),
    }),
    example: {
      success: true,
      accepted: 1,
      duplicates: 0,
      rejected: [{ index: 1, device_id: "bus-4811", message: "latitude must be between -90 and 90" }],
      sequence: 4711,
    },
  },
  Health: {
    schema: closed({
      status: always("ok"),
      version: text("Version of the server."),
      uptime_seconds: amount("Seconds since it started."),
    }),
    example: { status: "ok", version: "0.1.0", uptime_seconds: 86_400.5 },
  },
  Ready: {
    schema: closed({
      status: always("ready"),
      damaged: count("Stretches of damaged data set aside; see the command verify."),
    }),
    example: { status: "ready", damaged: 0 },
  },
} satisfies Record<string, DescribedBody>;

export type AnswerName = keyof typeof ANSWERS;

export const ANSWER_SCHEMAS: Members = {
  DeviceSummary: summary,
  ...Object.fromEntries(Object.entries(ANSWERS).map(([name, { schema }]) => [name, schema])),
};
