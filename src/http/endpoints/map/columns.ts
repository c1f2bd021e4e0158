import { mapMaybe } from "../../../lib/schedule/maybe-promise.ts";
import type { AppId } from "../../../model/ids.ts";
import { REPORT_FIELDS, type StoredField } from "../../../model/location-fields.ts";
import { createTakeSnapshot, type Snapshot } from "../../../service/queries/snapshot.ts";
import { type Column, type ColumnBlock, jsonColumns } from "../../encode/json-columns.ts";
import { RecordNames } from "../../encode/record-names.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { flag, severalWords } from "../../parameters/kinds.ts";
import { DEVICE_NAME, EXAMPLE_REPORT, fieldSchema, SHOWN_PROFILE } from "../../shapes/record-schemas.ts";
import { viewShows } from "../../shapes/records.ts";
import { always, count, object, optional, plain, text } from "../../shapes/shape.ts";

const ALWAYS_SHOWN = ["device_id", "timestamp", "latitude", "longitude"];

/** Optional fields of a current position. */
const CHOSEN_FIELDS = REPORT_FIELDS.filter(
  ({ name, responses }) => !ALWAYS_SHOWN.includes(name) && responses.includes("current"),
);

function columnOf(field: StoredField) {
  const items = fieldSchema(field);
  return plain<never>({ type: "array", items: field.required ? items : { ...items, nullable: true } });
}

const answer = object({
  success: always(true),
  app_id: text("Application of the key."),
  sequence: count(
    "The answer includes all reports up to this entry of the log, and may include later ones. The live stream can continue from it.",
  ),
  ...Object.fromEntries(
    REPORT_FIELDS.filter(({ required }) => required).map((field) => [field.name, columnOf(field)]),
  ),
  ...Object.fromEntries(CHOSEN_FIELDS.map((field) => [field.name, optional(columnOf(field))])),
  name: optional(plain<never>({ type: "array", items: { ...DEVICE_NAME, nullable: true } })),
  profile: optional(plain<never>({ type: "array", items: { ...SHOWN_PROFILE, nullable: true } })),
});

export const appColumns = queryEndpoint({
  operationId: "getAppCurrentColumns",
  tag: "App",
  summary: "Latest position of each device of the app, in columns",
  description: [
    "For maps: a list for each field, with a value for each device, ordered by device_id; null if its newest record lacks",
    "the field. At most 1,000,000 devices. A share link gets no columns of fields that it doesn't show.",
  ].join(" "),
  path: "/api/v1/locations/current/columns",
  inPath: {},
  query: {
    fields: severalWords(
      "Fields besides device_id, timestamp, latitude and longitude.",
      CHOSEN_FIELDS.map(({ name }) => name),
      ["speed"],
    ),
    names: flag("Adds a column name, with the name in each device's profile, or null.", "boolean"),
    profiles: flag(
      "Adds a column profile: name, color and icon in each device's profile, or null if it has none of these.",
      "boolean",
    ),
  },
  wrongQuery: "fields=velocity",
  answer: {
    name: "AppColumns",
    description: "All positions.",
    shape: answer,
    example: {
      success: true,
      app_id: "default",
      sequence: 81_220,
      ...Object.fromEntries([...ALWAYS_SHOWN, "speed"].map((name) => [name, [EXAMPLE_REPORT[name]]])),
    },
  },
  isForViews: true,
  versionOf: ({ versions }, { appId, view }) => versions.ofNewest(appId, view),
  open(services) {
    const takeSnapshot = createTakeSnapshot(services);
    return (call, { fields, names: withNames, profiles: withProfiles }) => {
      const { view } = call;
      const isShown = (field: StoredField) => view === null || viewShows(view, field);
      const chosenFields = CHOSEN_FIELDS.filter((field) => fields.includes(field.name) && isShown(field));
      const names = new RecordNames(services.hot.profiles, call.appId, { withNames, withProfiles });
      return mapMaybe(takeSnapshot(call, chosenFields, call.request), (snapshot) =>
        snapshot.ok
          ? call.pieces(piecesOf(call.appId, chosenFields, names, snapshot.value))
          : call.fail(snapshot.error),
      );
    };
  },
});

function* piecesOf(
  appId: AppId,
  chosenFields: readonly StoredField[],
  names: RecordNames,
  { sequence, blocks, end }: Snapshot,
): Iterable<Uint8Array<ArrayBuffer>> {
  const columns: Column[] = [
    { name: "device_id", blocks: blocks.map(({ deviceIds }) => deviceIds) },
    { name: "timestamp", blocks: blocks.map(({ timestampMs }) => timestampMs) },
    { name: "latitude", blocks: blocks.map(({ latitude }) => latitude) },
    { name: "longitude", blocks: blocks.map(({ longitude }) => longitude) },
    ...chosenFields.map(({ name }, index) => ({ name, blocks: blocks.map(({ fields }) => fields[index]!) })),
    ...(names.form.withNames ? [{ name: "name", blocks: ofEach(blocks, (id) => names.of(id)) }] : []),
    ...(names.form.withProfiles
      ? [{ name: "profile", blocks: ofEach(blocks, (id) => names.profileOf(id)) }]
      : []),
  ];
  try {
    yield* jsonColumns({ success: true, app_id: appId, sequence }, columns);
  } finally {
    end();
  }
}

/** Looks values of devices up, block by block, as each is written. */
function* ofEach(
  blocks: Snapshot["blocks"],
  find: (deviceId: string) => string | object | null,
): Iterable<ColumnBlock> {
  for (const { deviceIds } of blocks) yield Array.from(deviceIds, find);
}
