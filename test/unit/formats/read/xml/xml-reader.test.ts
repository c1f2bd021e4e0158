import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { SaxesParser } from "saxes";
import { rootNameOf } from "../../../../../src/formats/read/xml/xml-reader.ts";
import * as fc from "../../../../support/fast-check.ts";
import { runInOwnProcess } from "../../../../support/own-process.ts";
import { GIBIBYTE, type GibibyteHeard, hear, MEBIBYTE, repeated } from "./hear-gibibyte.ts";

const HEAR_GIBIBYTE = join(import.meta.dir, "hear-gibibyte.ts");

function textsOf(xml: string): string[] {
  const { events, error } = hear([xml]);
  expect(error).toBeNull();
  return events.filter((event) => event.startsWith("</t>")).map((event) => event.slice("</t> ".length));
}

describe("elements", () => {
  test("are told by their local names, with the element that they lie in, and the line", () => {
    expect(hear(['\n \n<a:r x="1"\n y:z="2"><b:t>1</b:t>\n<u/></a:r>'])).toEqual({
      events: ["3 <r x=1 y:z=2> in ", "4 <t> in r", "</t> 1", "5 <u> in r", "</u> ", "</r> "],
      error: null,
    });
  });

  test("have their text with CDATA, without comments and with what lies in others", () => {
    expect(textsOf("<r><t>a<!-- b -->c<![CDATA[<d>&lt;]]>&lt;&#65;<t>e</t>f</t></r>")).toEqual([
      "",
      "ac<d>&lt;<Aef",
    ]);
  });

  test("have attributes, of which the first of a name counts", () => {
    expect(hear([`<r a = "1&amp;'2'" b='&#65;"' a="3"/>`]).events).toEqual([
      "1 <r a=1&'2' b=A\"> in ",
      "</r> ",
    ]);
  });

  test("may follow those of another document", () => {
    expect(textsOf('<?xml version="1.0"?><r><t>1</t></r>\n<?xml version="1.0"?><r><t>2</t></r>')).toEqual([
      "1",
      "2",
    ]);
  });

  test("are the same in any chunking", () => {
    const xml =
      '\ufeff \r\n<?xml version="1.0"?>\r\n<!DOCTYPE r [<!ENTITY e "x">]><r a="1\r\n2">é😀<t>&amp;é😀]]<![CDATA[]]]]></t>\r\n<!-- - --></r>\n';
    const bytes = new TextEncoder().encode(xml);
    const whole = hear([bytes]);
    expect(whole.error).toBeNull();
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: bytes.length }), { minLength: 1 }), (sizes) => {
        const pieces: Uint8Array[] = [];
        for (let at = 0, i = 0; at < bytes.length; at += sizes[i++ % sizes.length]!)
          pieces.push(bytes.slice(at, at + sizes[i % sizes.length]!));
        expect(hear(pieces)).toEqual(whole);
      }),
    );
  });
});

describe("damage", () => {
  test("that leaves the elements in their places is passed over", () => {
    expect(textsOf("<r><t>a\0b&nbsp;&#0;&#xd800;&]]></t></r>")).toEqual(["a\0b&nbsp;&#0;&#xd800;&]]>"]);
    expect(textsOf('x<r a="1" a="2&<"><!-- -- --><t>1</t></r>\0\0\0')).toEqual(["1"]);
  });

  test("ends the reading with its line and column", () => {
    expect(hear(["<r>\n<t>1</t>\n<t>2</r>"])).toEqual({
      events: ["1 <r> in ", "2 <t> in r", "</t> 1", "3 <t> in r"],
      error: "line 3, column 4: </r> ends no open element",
    });
    expect(hear(["<r/></r>"]).error).toBe("line 1, column 4: </r> ends no open element");
    expect(hear(["<r></>"]).error).toBe("line 1, column 3: </> ends no open element");
    expect(hear(["<r><t a=1/></r>"]).error).toBe("line 1, column 3: <t> is not a valid tag");
    expect(hear(["<r><t a/></r>"]).error).toBe("line 1, column 3: <t> is not a valid tag");
    expect(hear(["<r>1 < 2</r>"]).error).toBe("line 1, column 5: a < begins no element");
    expect(hear(["<r>\n<t>"]).error).toBe("line 2, column 3: the file is cut off within <t>");
    expect(hear([""]).error).toBe("line 1, column 0: the file is not XML");
    expect(hear(["lat,lon\n1,2"]).error).toBe("line 2, column 3: the file is not XML");
    expect(hear(["<?xml"]).error).toBe("line 1, column 4: the file is cut off before its first element");
  });

  test("shows no more of a name than people read", () => {
    expect(hear([`<r></${"a".repeat(1000)}>`]).error).toBe(
      `line 1, column 3: </${"a".repeat(40)}…> ends no open element`,
    );
    expect(hear([`<${"b".repeat(1000)}>`]).error).toContain(
      `the file is cut off within <${"b".repeat(40)}…>`,
    );
  });

  test("of any kind is a FormatError, after the events before it", () => {
    const xml = new TextEncoder().encode(
      '<?xml version="1.0"?><!DOCTYPE r><r a="1"><t>1&amp;</t><!--c--><t><![CDATA[2]]></t></r>',
    );
    const whole = hear([xml]).events;
    fc.assert(
      fc.property(fc.nat(xml.length - 1), fc.uint8Array({ minLength: 1, maxLength: 9 }), (at, noise) => {
        const damaged = xml.slice();
        damaged.set(noise.subarray(0, xml.length - at), at);
        const before = hear([xml.subarray(0, at)]).events;
        expect(hear([damaged]).events.slice(0, before.length)).toEqual(before);
        expect(whole.slice(0, before.length)).toEqual(before);
      }),
      { numRuns: 1000 },
    );
  });

  test("of bytes that are no text shows as U+FFFD", () => {
    const bytes = new TextEncoder().encode("<r><t>a?b</t></r>");
    bytes[bytes.indexOf("?".charCodeAt(0))] = 0xff;
    expect(hear([bytes]).events).toContain("</t> a\ufffdb");
  });
});

describe("an unneeded part", () => {
  test("is no entity of a DOCTYPE, nested, long, or of another file", () => {
    const laughs = Array.from({ length: 9 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join(
      "",
    );
    expect(textsOf(`<!DOCTYPE r [<!ENTITY l0 "ha">${laughs}]><r><t>&l9;</t></r>`)).toEqual(["&l9;"]);
    const long = `<!DOCTYPE r [<!ENTITY a "${"a".repeat(50_000)}">]><r><t>${"&a;".repeat(90)}</t></r>`;
    expect(textsOf(long)).toEqual(["&a;".repeat(90)]);
    const outside =
      '<!DOCTYPE r SYSTEM "http://127.0.0.1:1/r.dtd" [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p; <!ENTITY e SYSTEM "file:///etc/passwd">]>';
    expect(textsOf(`${outside}<r><t>&e;</t></r>`)).toEqual(["&e;"]);
  });

  test("is an unwanted text of any length", () => {
    const pieces = ["<r><u>", ...repeated("1,2,3 ", 8 * MEBIBYTE), "</u><t>1</t></r>"];
    expect(hear(pieces)).toMatchObject({ error: null, events: expect.arrayContaining(["</t> 1"]) });
  });
});

describe("a hostile file", () => {
  test("of a million elements within each other is not followed down", () => {
    const { events, error } = hear(["<a>".repeat(1_000_000)]);
    expect(error).toBe("line 1, column 192: more than 64 elements lie within each other");
    expect(events).toHaveLength(64);
  });

  /** Reads a gibibyte behind a beginning, in a small part of that memory, and tells how much of it was read. */
  async function hearGibibyte(opening: string): Promise<GibibyteHeard> {
    const answer = await runInOwnProcess<GibibyteHeard>(HEAR_GIBIBYTE, opening);
    expect(answer.grownBytes).toBeLessThan(GIBIBYTE / 8);
    return answer;
  }

  const wanted = {
    text: "<r><t>",
    reference: "<r><t>&",
    section: "<r><t><![CDATA[",
    attribute: '<r a="',
    tag: "<",
    "closing tag": "<r></",
  };
  for (const [name, opening] of Object.entries(wanted)) {
    test(`is not read on within a ${name} of a gibibyte`, async () => {
      const { error, sentBytes } = await hearGibibyte(opening);
      expect(error).toMatch(/: a text or tag is longer than any that positions have$/);
      expect(sentBytes).toBeLessThanOrEqual(2 * MEBIBYTE);
    });
  }

  const passed = {
    text: "<r>",
    comment: "<r><t><!--",
    section: "<r><![CDATA[",
    instruction: "<r><?a ",
    declaration: "<r><!DOCTYPE ",
    "internal subset": '<r><!DOCTYPE r [<!ENTITY a "',
  };
  for (const [name, opening] of Object.entries(passed)) {
    test(`of a gibibyte in a ${name} is skipped`, async () => {
      const { error, sentBytes } = await hearGibibyte(opening);
      expect(error).toMatch(/: the file is cut off within <[rt]>$/);
      expect(sentBytes).toBe(GIBIBYTE);
    });
  }

  test("of a text in a million pieces has none longer than in one", () => {
    const { error } = hear(["<r><t>", ...repeated("a<!---->", 8 * 4 * MEBIBYTE)]);
    expect(error).toMatch(/: a text or tag is longer than any that positions have$/);
  });

  test("of as many names as elements is read to its end", () => {
    const elements = Array.from({ length: 100_000 }, (_, i) => `<n${i}:t>${i}</n${i}:t>`);
    expect(textsOf(`<r>${elements.join("")}</r>`)).toHaveLength(100_000);
  });
});

describe("saxes, which knows all rules,", () => {
  const name = fc.constantFrom("t", "a:t", "u", "trkpt", "trkseg", "é");
  const text = fc
    .array(
      fc.constantFrom("1", " ", "\n", "é", "😀", "&amp;", "&#65;", "&#x1F600;", "]", "]]", "'", '"', "-"),
    )
    .map((parts) => parts.join(""));
  const plain = text.map((each) => each.replaceAll(/[&;\n"\]-]/g, ""));
  const attributes = fc
    .uniqueArray(fc.constantFrom("lat", "lon", "b:c"), { maxLength: 3 })
    .chain((names) =>
      fc
        .tuple(...names.map((each) => plain.map((value) => ` ${each} = "${value}"`)))
        .map((all) => all.join("")),
    );
  const { element } = fc.letrec<{ element: string; content: string }>((tie) => ({
    element: fc
      .tuple(name, attributes, tie("content"), fc.boolean())
      .map(([tag, written, content, isEmpty]) =>
        isEmpty ? `<${tag}${written}/>` : `<${tag}${written}\n>${content}</${tag} >`,
      ),
    content: fc
      .array(
        fc.oneof(
          { depthSize: "small" },
          text,
          plain.map((each) => `<!--${each}-->`),
          plain.map((each) => `<![CDATA[${each}]]>`),
          plain.map((each) => `<?p ${each}?>`),
          tie("element"),
        ),
        { maxLength: 5 },
      )
      .map((parts) => parts.join("")),
  }));

  test("finds the same in documents without faults", () => {
    fc.assert(
      fc.property(element, fc.integer({ min: 1, max: 40 }), (root, pieceBytes) => {
        const xml = `<?xml version="1.0"?><!DOCTYPE r [<!ENTITY e "x">]>${root}`;
        const told = hearSaxes(xml);
        expect(told).not.toBeNull();
        const bytes = new TextEncoder().encode(xml);
        const pieces = [];
        for (let at = 0; at < bytes.length; at += pieceBytes)
          pieces.push(bytes.subarray(at, at + pieceBytes));
        const { events, error } = hear(pieces);
        expect([events.map((event) => event.replace(/^\d+ /, "")), error]).toEqual([told, null]);
      }),
    );
  });

  test("finds faults wherever we do", () => {
    const noise = fc.constantFrom(
      "<",
      ">",
      "/",
      "</t>",
      "<t>",
      "=",
      '"',
      "a",
      " ",
      "<!--",
      "]]>",
      "<![CDATA[",
      "?>",
    );
    fc.assert(
      fc.property(element, fc.nat(), noise, (root, at, added) => {
        const xml = root.slice(0, at % root.length) + added + root.slice(at % root.length);
        const told = hearSaxes(xml);
        if (told === null) return;
        const { events, error } = hear([xml]);
        expect([events.map((event) => event.replace(/^\d+ /, "")), error]).toEqual([told, null]);
      }),
      { numRuns: 1000 },
    );
  });
});

/** What saxes tells of a document, in our words; null where it has any fault. */
function hearSaxes(xml: string): string[] | null {
  const parser = new SaxesParser({ xmlns: false as const });
  const events: string[] = [];
  const open: { readonly local: string; readonly isCollected: boolean }[] = [];
  let collected = "";
  let faults = 0;
  const collect = (text: string) => {
    collected += text;
  };
  parser.on("error", () => faults++);
  parser.on("text", collect);
  parser.on("cdata", collect);
  parser.on("opentag", (tag) => {
    const local = tag.name.slice(tag.name.lastIndexOf(":") + 1);
    const isCollected = local === "t" && !open.some((each) => each.isCollected);
    if (isCollected) collected = "";
    const told = Object.entries(tag.attributes).map(([key, value]) => ` ${key}=${value}`);
    events.push(`<${local}${told.join("")}> in ${open.at(-1)?.local ?? ""}`);
    open.push({ local, isCollected });
  });
  parser.on("closetag", () => {
    const { local, isCollected } = open.pop()!;
    events.push(`</${local}> ${isCollected ? collected : ""}`);
  });
  parser.write(xml).close();
  return faults === 0 ? events : null;
}

const nameOf = (text: string) => rootNameOf({ text, bytes: new TextEncoder().encode(text) });

test("rootNameOf() finds the first element behind whatever comes before it", () => {
  expect(nameOf("<gpx/>")).toBe("gpx");
  expect(nameOf('<?xml version="1.0"?>\n<!DOCTYPE a><!-- <b> --><c:kml>')).toBe("kml");
  expect(nameOf(`<!--${" ".repeat(5000)}--><kml >`)).toBe("kml");
});

test("rootNameOf() finds none in what is no XML, or ends before it", () => {
  for (const text of [
    "",
    "gpx",
    "{}",
    "<",
    "<gp",
    "<!-- <gpx>",
    "a <b>",
    '{"a":"<gpx>"}',
    `<${"\0".repeat(200_000)}`,
  ])
    expect(nameOf(text)).toBeNull();
});
