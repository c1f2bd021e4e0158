import { describe, expect, test } from "bun:test";
import { createLocalTimeFormatter } from "../../../../src/model/time/local-time.ts";
import { parseZone, UTC, type Zone } from "../../../../src/model/time/zone.ts";
import { findZoneHistory, TZDATA_VERSION, zoneNames } from "../../../../src/model/time/zone-table.ts";
import { csvRows, readTestData } from "../../../support/test-data.ts";

function zoneNamed(name: string): Zone {
  const zone = parseZone(name);
  if (zone === null) throw new Error(`No zone ${name}`);
  return zone;
}

/** Every instant since 1970 at which the zone's table starts another period. */
function changesOf(name: string): number[] {
  return [...findZoneHistory(name)!.untilMs].filter((untilMs) => untilMs >= 0 && untilMs < Infinity);
}

/**
 * Zones whose law, or what is known of it, changed after the published instants were made, and since when: our
 * newer table rightly differs there.
 */
const AMENDED: Readonly<Record<string, string>> = {
  "Africa/Casablanca": "2026-09",
  "Africa/El_Aaiun": "2026-09",
  "America/Edmonton": "2026-11",
  "America/Havana": "2026-11",
  "America/Inuvik": "2026-11",
  "America/Rainy_River": "2026-11",
  "America/Vancouver": "2026-11",
  "America/Winnipeg": "2026-11",
  "America/Yellowknife": "2026-11",
  "Canada/Central": "2026-11",
  "Canada/Mountain": "2026-11",
  "Canada/Pacific": "2026-11",
  Cuba: "2026-11",
  "Europe/Chisinau": "2022-03",
  "Europe/Tiraspol": "2022-03",
};

describe("the zone table", () => {
  test("is the version the documentation names, with every name of the database", () => {
    expect(TZDATA_VERSION).toBe("2026f");
    expect(zoneNames()).toHaveLength(598);
    expect(new Set(zoneNames()).size).toBe(598);
  });

  test("changes in order, on whole seconds, never further from UTC than a search looks", () => {
    for (const name of zoneNames()) {
      const { untilMs, offsetMinutes } = findZoneHistory(name)!;
      expect(offsetMinutes.length).toBe(untilMs.length);
      expect(untilMs.at(-1)).toBe(Infinity);
      for (let i = 0; i < untilMs.length; i++) {
        if (i > 0) expect(untilMs[i]! > untilMs[i - 1]!).toBe(true);
        expect(untilMs[i] === Infinity || untilMs[i]! % 1000 === 0).toBe(true);
        expect(Math.abs(offsetMinutes[i]!) < 16 * 60).toBe(true);
      }
    }
  });

  test("has whole minutes from 1972 on", () => {
    for (const name of zoneNames()) {
      const zone = zoneNamed(name);
      for (const changeMs of [Date.UTC(1972, 0, 8), ...changesOf(name)]) {
        if (changeMs < Date.UTC(1972, 0, 8)) continue;
        expect(Number.isInteger(zone.offsetMinutesAt(changeMs))).toBe(true);
      }
    }
  });
});

describe("parseZone()", () => {
  test("takes every name and link of the IANA database in its own spelling", () => {
    for (const name of zoneNames()) expect(parseZone(name)?.name).toBe(name);
  });

  test("takes what ICU calls the time zones of the world", () => {
    for (const name of Intl.supportedValuesOf("timeZone"))
      expect([name, parseZone(name) !== null]).toEqual([name, true]);
  });

  test("takes ±hh:mm up to 14:00, each minute of it", () => {
    for (let minutes = 0; minutes <= 840; minutes++) {
      const text = `${String(Math.trunc(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
      expect(parseZone(`+${text}`)?.offsetMinutesAt(0)).toBe(minutes);
      expect(parseZone(`-${text}`)?.offsetMinutesAt(0)).toBe(0 - minutes); // `toBe` tells -0 from 0.
    }
  });

  test("takes a space where a URL lost the plus", () => {
    expect(parseZone(" 05:30")?.offsetMinutesAt(0)).toBe(330);
    expect(parseZone("Etc/GMT 5")?.offsetMinutesAt(0)).toBe(-300);
    expect(parseZone("GMT 0")?.offsetMinutesAt(0)).toBe(0);
    expect(parseZone(" 05:30")).toBe(parseZone("+05:30"));
  });

  test("takes abbreviations as offsets that never change, above zones of that name", () => {
    const hours = { PST: -8, MST: -7, CST: -6, EST: -5, UTC: 0, GMT: 0 };
    for (const [name, offset] of Object.entries(hours)) {
      for (const year of [1890, 1950, 2026]) {
        expect(parseZone(name)?.offsetMinutesAt(Date.UTC(year, 6, 1))).toBe(offset * 60);
        expect(parseZone(name)?.offsetMinutesAt(Date.UTC(year, 0, 1))).toBe(offset * 60);
      }
    }
  });

  test("gives the same zone each time", () => {
    expect(parseZone("Europe/Berlin")).toBe(parseZone("Europe/Berlin"));
  });

  test("refuses everything else", () => {
    const refused = [
      ...[
        "",
        " ",
        "+",
        "local",
        "system",
        "utc",
        "gmt",
        "est",
        "Z",
        "z",
        "IST",
        "BST",
        "JST",
        "PDT",
        "EDT",
        "CEST",
      ],
      ...[
        "europe/berlin",
        "EUROPE/BERLIN",
        "Europe/Berlin ",
        " Europe/Berlin",
        "Europe/Nowhere",
        "Europe",
        "Europe/",
      ],
      ...[
        "UTC+5",
        "UTC+05:00",
        "GMT+5",
        "UTC 5",
        "+14:01",
        "-14:01",
        "+15:00",
        "+23:59",
        "+05:60",
        "+5:30",
        "+0530",
      ],
      ...["+05", "05:30", "++05:30", "  05:30", "+05:30 ", "+05:30\n", "+05:3０", "−05:00", "+05:30:00"],
      ...[
        "America/New York",
        "Etc/GMT%2B5",
        "Etc/GMT  5",
        "Etc/GMT+15",
        "constructor",
        "__proto__",
        "toString",
        "\0",
      ],
    ];
    for (const text of refused) expect([text, parseZone(text)]).toEqual([text, null]);
  });
});

describe("Zone", () => {
  test("agrees with 19,240 published instants around changes from 2015 to 2037, until laws were amended", () => {
    const text = readTestData("geodesy/timezone_transitions_2015_2037.csv.gz");
    if (text === null) return;
    const rows = csvRows(text);
    expect(rows).toHaveLength(19_240);
    const lawful = rows.filter(([name, utc]) => !(utc! >= (AMENDED[name!] ?? "9999")));
    expect(lawful.length).toBeGreaterThan(18_000);
    const wrong = lawful.filter(([name, utc, localTime, , offsetMinutes]) => {
      const zone = zoneNamed(name!);
      const instantMs = Date.parse(utc!);
      const localDate = new Date(instantMs + Number(offsetMinutes) * 60_000).toISOString().slice(0, 10);
      const local = createLocalTimeFormatter(zone).text(instantMs);
      return (
        zone.offsetMinutesAt(instantMs) !== Number(offsetMinutes) ||
        !local.startsWith(`${localDate}T${localTime}.000`) ||
        Date.parse(local) !== instantMs
      );
    });
    expect(wrong).toEqual([]);
  });

  test("agrees with ICU around every change from 2000 to 2025", () => {
    for (const name of Intl.supportedValuesOf("timeZone")) {
      const zone = zoneNamed(name);
      const icu = new Intl.DateTimeFormat("en", { timeZone: name, timeZoneName: "longOffset" });
      for (const changeMs of changesOf(name)) {
        if (changeMs < Date.UTC(2000, 0, 1) || changeMs > Date.UTC(2026, 0, 1)) continue;
        for (const instantMs of [changeMs - 1, changeMs]) {
          const where = `${name} ${new Date(instantMs).toISOString()}`;
          expect([where, zone.offsetMinutesAt(instantMs)]).toEqual([where, icuOffsetMinutes(icu, instantMs)]);
        }
      }
    }
  });

  test("spans hold their offset and meet where it changes", () => {
    for (const name of zoneNames()) {
      const zone = zoneNamed(name);
      let span = zone.offsetSpanAt(-Infinity);
      expect(span.startMs).toBe(-Infinity);
      while (span.endMs < Infinity) {
        expect(zone.offsetMinutesAt(span.endMs - 1)).toBe(span.offsetMinutes);
        const next = zone.offsetSpanAt(span.endMs);
        expect(next.startMs).toBe(span.endMs);
        expect(zone.offsetMinutesAt(next.startMs)).toBe(next.offsetMinutes);
        span = next;
      }
    }
  });

  test("keeps the last offset for ever", () => {
    expect(zoneNamed("Asia/Kolkata").offsetMinutesAt(Date.UTC(2262, 0, 1))).toBe(330);
    expect(zoneNamed("Factory").offsetMinutesAt(0)).toBe(0);
    expect(UTC.offsetMinutesAt(Date.UTC(9999, 0, 1))).toBe(0);
  });

  test("knows the seconds of local mean time as fractions of a minute", () => {
    expect(zoneNamed("Africa/Monrovia").offsetMinutesAt(Date.UTC(1971, 0, 1))).toBe(-44.5);
    expect(zoneNamed("Europe/Paris").offsetMinutesAt(Date.UTC(1890, 0, 1)) * 60).toBeCloseTo(561, 9);
  });
});

function icuOffsetMinutes(format: Intl.DateTimeFormat, instantMs: number): number {
  const text = format.formatToParts(instantMs).find((part) => part.type === "timeZoneName")!.value;
  const [, sign, hours, minutes] = /^GMT(?:([+-])(\d\d):(\d\d))?$/.exec(text)!;
  const distance = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
  return sign === "-" ? 0 - distance : distance;
}
