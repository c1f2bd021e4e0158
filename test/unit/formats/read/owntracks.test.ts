import { describe, expect, test } from "bun:test";
import { encryptBox, keyOf } from "../../../../src/clients/owntracks/encryption.ts";
import { ownTracksMessages, ownTracksRecorder } from "../../../../src/formats/read/owntracks.ts";
import * as fc from "../../../support/fast-check.ts";
import { contentOf, readWhole, sampleContent } from "../../../support/formats/read-file.ts";

const SAMPLE = "owntracks/rec/anna/pixel7/2026-02.rec";
const TIME_MS = 1_770_000_000_000;
const ANNAS = { device: "anna:pixel7", user: "anna" };

const line = (payload: unknown) =>
  `2026-02-02T02:40:00Z\t*                 \t${typeof payload === "string" ? payload : JSON.stringify(payload)}\n`;
const at = (tst: number, more: object = {}) => ({ _type: "location", lat: 52.5, lon: 13.4, tst, ...more });

/** A message as the apps encrypt it. */
function encrypted(message: unknown, passPhrase: string) {
  const box = encryptBox(keyOf(passPhrase), new TextEncoder().encode(JSON.stringify(message)));
  return { _type: "encrypted", data: Buffer.from(box).toString("base64") };
}

describe("the sample", () => {
  const first = {
    ...ANNAS,
    timestampMs: TIME_MS,
    latitude: 52.520008,
    longitude: 13.404954,
    details: {
      horizontal_accuracy: 12,
      speed: 13.056,
      bearing: 271,
      altitude: 34,
      battery_level: 81,
      battery_status: "Not Charging",
    },
  };

  test("has four positions", async () => {
    const { points, places, skips, remarks, error } = await readWhole(
      ownTracksRecorder,
      sampleContent(SAMPLE),
    );
    expect(points).toEqual([
      first,
      first,
      { ...ANNAS, timestampMs: TIME_MS - 60_000, latitude: 52.52, longitude: 13.404, details: {} },
      {
        ...ANNAS,
        timestampMs: TIME_MS + 480_000,
        latitude: 30.365854,
        longitude: 7.57577,
        details: { speed: 1.111, bearing: 260, altitude: 70 },
      },
    ]);
    expect(places).toEqual([1, 2, 3, 8]);
    expect(skips).toEqual({ no_location: 2, encrypted: 1, unreadable: 2 });
    expect([remarks, error]).toEqual([{ lower_cased: 3 }, null]);
  });

  test("is the same in pieces of any size", async () => {
    const whole = await readWhole(ownTracksRecorder, sampleContent(SAMPLE));
    for (const pieceBytes of [1, 3, 50, 1000])
      expect(await readWhole(ownTracksRecorder, sampleContent(SAMPLE, pieceBytes))).toEqual(whole);
  });
});

describe("ownTracksRecorder", () => {
  async function read(
    text: string,
    { folders = ["rec", "anna", "pixel7"], passPhrases = [] as string[] } = {},
  ) {
    return readWhole(ownTracksRecorder, contentOf(text, { name: "2026-02.rec", folders }), { passPhrases });
  }

  test("knows whose it is by folders, else by what messages say", async () => {
    const text =
      line(at(1_770_000_000, { topic: "owntracks/Anna/Pixel7", tid: "ne" })) + line(at(1, { tid: "ne" }));
    const names = async (folders: string[]) =>
      (await read(text, { folders })).points.map(({ device, user }) => [device, user]);
    expect(await names(["store", "rec", "anna", "pixel7"])).toEqual([
      ["anna:pixel7", "anna"],
      ["anna:pixel7", "anna"],
    ]);
    expect(await names(["pixel7"])).toEqual([
      ["Anna:Pixel7", "Anna"],
      ["ne", null],
    ]);
  });

  test("opens what is encrypted with any of the passphrases", async () => {
    const text = line(encrypted(at(1_770_000_000), "secret")) + line(encrypted({ _type: "lwt" }, "other"));
    const found = await read(text, { passPhrases: ["wrong", "other", "secret"] });
    expect(found.points).toEqual([
      { ...ANNAS, timestampMs: TIME_MS, latitude: 52.5, longitude: 13.4, details: {} },
    ]);
    expect(found.skips).toEqual({ no_location: 1 });
    expect((await read(text, { passPhrases: ["wrong"] })).skips).toEqual({ encrypted: 2 });
    const boxInBox = line(encrypted(encrypted(at(1_770_000_000), "secret"), "secret"));
    expect((await read(boxInBox, { passPhrases: ["secret"] })).skips).toEqual({ encrypted: 1 });
    for (const data of [undefined, 7, "", "!", "A".repeat(1000)])
      expect((await read(line({ _type: "encrypted", data }), { passPhrases: ["secret"] })).skips).toEqual({
        encrypted: 1,
      });
  });

  test("skips photos of megabytes and anything deep alone", async () => {
    const photo = line({ _type: "card", face: "A".repeat(2 << 20) });
    const deep = line(
      `{"_type":"location","a":${"[".repeat(400_000)}${"]".repeat(400_000)},"lat":1,"lon":2}`,
    );
    const { points, skips } = await read(photo + line("{".repeat(500_000)) + deep + line(at(1_770_000_000)));
    expect(points.at(-1)!.timestampMs).toBe(TIME_MS);
    expect(skips.too_large).toBe(1);
    expect(skips.unreadable).toBeGreaterThanOrEqual(1);
  });

  test("keeps every position before a cut", async () => {
    const text = [1, 2, 3].map((second) => line(at(1_770_000_000 + second))).join("");
    const whole = (await read(text)).points;
    for (let cut = 0; cut <= text.length; cut++) {
      const kept = text.slice(0, cut).split("\n").length - 1;
      const { points, error } = await read(text.slice(0, cut));
      expect(points.slice(0, kept)).toEqual(whole.slice(0, kept));
      expect(error).toBeNull();
    }
  });

  test("takes no harm from anything in a line", async () => {
    const payload = fc.oneof(fc.json(), fc.string());
    const message = fc
      .array(fc.json(), { minLength: 4, maxLength: 4 })
      .map(
        ([lat, lon, tst, vel]) => `{"_type":"location","lat":${lat},"lon":${lon},"tst":${tst},"vel":${vel}}`,
      );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(payload, message)), async (payloads) => {
        const { error } = await read(payloads.map(line).join(""));
        expect(error).toBeNull();
      }),
    );
  });

  test("is known by its first line", () => {
    const said = (text: string) =>
      ownTracksRecorder.recognise({ bytes: new Uint8Array(), text, isWhole: true, name: "file" });
    expect(said(line(at(1)))).toBe("lines of a time, a kind of topic and a message");
    expect(said("2026-02-02T02:40:00Z\tlat\n")).toBeNull();
    expect(said('{"a":1}')).toBeNull();
  });
});

test("ownTracksMessages opens what is encrypted, too", async () => {
  const text = JSON.stringify([encrypted(at(1_770_000_000), "secret")]);
  const { points } = await readWhole(ownTracksMessages, contentOf(text), { passPhrases: ["secret"] });
  expect(points.map(({ timestampMs }) => timestampMs)).toEqual([TIME_MS]);
});
