import { describe, expect, test } from "bun:test";
import { readBeginning } from "../../../../../src/formats/read/beginning.ts";
import { HeaderError } from "../../../../../src/formats/read/format.ts";
import { csv } from "../../../../../src/formats/read/table/csv.ts";
import * as fc from "../../../../support/fast-check.ts";
import { contentOf, readWhole } from "../../../../support/formats/read-file.ts";

const TIME_MS = Date.UTC(2026, 5, 1, 10);
const HERE = { timestampMs: TIME_MS, latitude: 52.52, longitude: 13.405 };

describe("a header is found", () => {
  const ABOVE = [
    "",
    "sep=,\r\n",
    '"sep=,"\r\n',
    "# created by a logger\n",
    "# one, two, three\n#\n\n",
    "My track; of a day\n",
    "sep=,\n# created by a logger\nMy track\n\n",
    "#",
    "# ",
  ];

  test.each(ABOVE)("behind %j, in any pieces", async (above) => {
    const text = `${above}time,lat,lon\n2026-06-01T10:00:00Z,52.52,13.405\n`;
    const content = contentOf(text, { name: "x" });
    expect(csv.recognise(await readBeginning(content))).toContain("its header names time, lat, lon");
    for (const pieceBytes of [1, 2, 7, 1000]) {
      const { points, places, error, skips } = await readWhole(csv, contentOf(text, { pieceBytes }));
      expect({ points, error, skips }).toMatchObject({ points: [HERE], error: null, skips: {} });
      expect(places).toEqual([text.slice(0, text.indexOf("\n2026")).split("\n").length + 1]);
    }
  });

  test.each([
    ["sep=;", "timestamp;latitude;longitude\n2026-06-01T10:00:00Z;52,52;13,405\n"],
    ["sep=|", "timestamp|latitude|longitude\n2026-06-01T10:00:00Z|52.52|13.405\n"],
    ["sep=\t", "timestamp\tlatitude\tlongitude\n2026-06-01T10:00:00Z\t52.52\t13.405\n"],
  ])("with the delimiter that %j says", async (above, table) => {
    const { points } = await readWhole(csv, contentOf(`${above}\r\n${table}`));
    expect(points).toMatchObject([HERE]);
  });

  test("by what the operator says of its columns", async () => {
    const text = "Mein Weg\nZeit;Breite;Länge\n2026-06-01T10:00:00Z;52,52;13,405\n";
    const columns = new Map([
      ["timestamp", "Zeit"],
      ["latitude", "Breite"],
      ["longitude", "Länge"],
    ]);
    expect((await readWhole(csv, contentOf(text), { columns })).points).toMatchObject([HERE]);
    expect((await readWhole(csv, contentOf(text))).error).toBeInstanceOf(HeaderError);
  });

  test("and rows before a damage are kept", async () => {
    const line = fc.stringMatching(/^[a-z ,;#]{0,20}$/);
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 8 }), async (above) => {
        const text = `${above.map((each) => `${each}\n`).join("")}time,lat,lon\n2026-06-01T10:00:00Z,52.52,13.405\n`;
        const { points } = await readWhole(csv, contentOf(`${text}2026-06-01T10`, { pieceBytes: 9 }));
        expect(points[0]).toMatchObject(HERE);
      }),
    );
  });
});
