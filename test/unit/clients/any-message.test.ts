import { describe, expect, test } from "bun:test";
import { CLIENTS, readerOf } from "../../../src/clients/clients.ts";
import { type Content, LongList } from "../../../src/clients/content.ts";
import { CollectedPoints, collect, contentOf, messageOf } from "../../support/clients/collected.ts";
import { sample, sampleLines } from "../../support/clients/sample.ts";
import * as fc from "../../support/fast-check.ts";

/*
 * Goal: nothing that anybody sends makes a reading throw, rest too seldom, or keep of a point what is not that point.
 * Method: any JSON and any text on every path, and samples in which any value is another.
 */

const SAMPLES = [
  sample("overland-requests/batch.json"),
  sample("overland-requests/owntracks-mode.json"),
  sample("owntracks-http/android.json"),
  sample("traccar-client-9/body.json"),
  sample("traccar-client-9/flat-dawarich-app.json"),
  sample("traccar-client-10/json-array-variant.json"),
  sample("traccar-forward/body.json"),
  sample("gpslogger-custom-url/owntracks-body.json"),
  sample("colota/default.json"),
  sample("colota/overland-batch.json"),
  sample("colota/traccar-json.json"),
  sample("home-assistant/rest-command.json"),
  sample("home-assistant/companion-webhook.json"),
  sample("phonetrack/multiple.json"),
].map((text) => JSON.parse(text));

const TEXTS = [
  ...sampleLines("traccar-client-10/form-bodies.txt"),
  ...sampleLines("osmand-app/queries.txt"),
  sample("gpslogger-custom-url/all-parameters-query.txt"),
  sample("opengts/request.txt"),
  sample("phonetrack/query.txt"),
  sample("colota/traccar-get-query.txt"),
  sample("owntracks-http/csv-payload.txt"),
];

/** What phones and strangers put where a value should be. */
const oddValues = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    "",
    0,
    -1,
    "0.0",
    "NaN",
    1e300,
    "1e400",
    true,
    "location",
    [],
    {},
    "__proto__",
  ),
  fc.string(),
  fc.double(),
  fc.jsonValue({ maxDepth: 3 }),
);

/** A sample in which some values, at any depth, are others. */
function mutated(value: unknown, odd: () => unknown, isOdd: () => boolean): unknown {
  if (isOdd()) return odd();
  if (Array.isArray(value)) return value.map((element) => mutated(element, odd, isOdd));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, mutated(member, odd, isOdd)]),
  );
}

const mutatedSamples = fc
  .tuple(
    fc.constantFrom(...SAMPLES),
    fc.array(fc.nat({ max: 11 }), { minLength: 40 }),
    fc.array(oddValues, { minLength: 9 }),
  )
  .map(([value, dice, odds]) => {
    let thrown = 0;
    let taken = 0;
    const isOdd = () => dice[thrown++ % dice.length] === 0;
    return mutated(value, () => odds[taken++ % odds.length], isOdd);
  });

/** As a client writes it: what is no JSON is gone from it. */
function asSent(value: unknown): Content {
  return { kind: "json", value: JSON.parse(JSON.stringify(value) ?? "null") };
}

/** A value whose lists are all too long to be parsed in one piece, as far down as they are made so. */
function withLongLists(value: unknown): unknown {
  if (Array.isArray(value)) return new LongList(value.length, (index) => value[index]);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      Array.isArray(member) ? new LongList(member.length, (index) => member[index]) : member,
    ]),
  );
}

describe.each(CLIENTS.map((client) => [client.name, client] as const))(
  "on the path of %s",
  (_name, client) => {
    test("any JSON is read", () => {
      fc.assert(
        fc.property(fc.oneof(fc.jsonValue(), mutatedSamples), (value) => {
          const content = asSent(value);
          collect(readerOf(client, content), messageOf(content));
          collect(client, messageOf(content));
        }),
        { numRuns: 500 },
      );
    });

    test("any text is read, in a body and in a URL", () => {
      const changed = fc
        .tuple(fc.constantFrom(...TEXTS), fc.nat(), fc.string({ maxLength: 3 }))
        .map(
          ([text, at, other]) =>
            `${text.slice(0, at % text.length)}${other}${text.slice((at % text.length) + 1)}`,
        );
      fc.assert(
        fc.property(fc.oneof(fc.string(), changed), (text) => {
          collect(client, messageOf({ kind: "text", text }));
          collect(client, messageOf({ kind: "empty" }, { query: new URLSearchParams(text) }));
        }),
        { numRuns: 500 },
      );
    });

    test("long lists are read as short ones are", () => {
      fc.assert(
        fc.property(mutatedSamples, (value) => {
          const content = asSent(value);
          const long: Content = {
            kind: "json",
            value: withLongLists(content.kind === "json" && content.value),
          };
          const reader = readerOf(client, content);
          expect(readerOf(client, long)).toBe(reader);
          expect(collect(reader, messageOf(long)).points).toEqual(collect(reader, messageOf(content)).points);
        }),
        { numRuns: 300 },
      );
    });

    test("what is kept of a point is read as that point again", () => {
      fc.assert(
        fc.property(mutatedSamples, (value) => {
          const content = asSent(value);
          const reader = readerOf(client, content);
          const { points, raws, refused } = collect(reader, messageOf(content));
          for (const [index, raw] of raws.entries()) {
            if (raw !== undefined) expect(again(raw, reader).points).toEqual([points[index]!]);
          }
          for (const { reason, raw } of refused) {
            if (raw !== undefined)
              expect(again(raw, reader)).toMatchObject({ points: [], refused: [{ reason }] });
          }
        }),
        { numRuns: 300 },
      );
    });

    function again(raw: unknown, reader: (typeof CLIENTS)[number]): CollectedPoints {
      return collect(reader, messageOf(contentOf(JSON.stringify(raw))));
    }
  },
);

const LISTS = [
  ["overland", (list: unknown) => ({ locations: list })],
  ["phonetrack", (list: unknown) => ({ points: list })],
  ["traccar", (list: unknown) => list],
  ["owntracks", (list: unknown) => list],
] as const;

test.each(LISTS)(
  "an empty list on the path of %s is understood, and nothing of it need be kept",
  (name, messageWith) => {
    const client = CLIENTS.find((one) => one.name === name)!;
    for (const list of [[], new LongList(0, () => null)]) {
      const { refused, skipped } = collect(client, messageOf({ kind: "json", value: messageWith(list) }));
      expect([refused, skipped]).toEqual([[], ["empty message"]]);
    }
  },
);

test.each(LISTS)("a list on the path of %s is read in steps", (name, messageWith) => {
  const client = CLIENTS.find((one) => one.name === name)!;
  const list = Array.from({ length: 1000 }, () => ({ _type: "location", id: "x", lat: 1, lon: 2 }));
  const sink = new CollectedPoints();
  let steps = 0;
  let most = 0;
  let before = 0;
  const message = messageOf({ kind: "json", value: messageWith(list) });
  for (const _step of client.read(message, sink)) {
    steps++;
    most = Math.max(most, sink.points.length + sink.refused.length - before);
    before = sink.points.length + sink.refused.length;
  }
  expect(sink.points.length + sink.refused.length).toBe(1000);
  expect(most).toBeLessThanOrEqual(32);
  expect(steps).toBeLessThanOrEqual(1000 / 32);
});
