import { describe, expect, test } from "bun:test";
import { FormatError } from "../../../../../src/formats/read/format.ts";
import {
  type Cut,
  JsonCutter,
  type JsonSelection,
} from "../../../../../src/formats/read/json/json-cutter.ts";
import * as fc from "../../../../support/fast-check.ts";

/**
 * The cutter must find what `JSON.parse` of the whole text finds, whatever the pieces it comes in, and of a text that
 * is cut off everything that was complete. So texts are written here with the place of each value noted.
 */

const WANTED = {
  lists: ["locations", "rawSignals"],
  members: ["type", "__proto__"],
  isList: true,
};

const MEBIBYTE = 1024 * 1024;

interface Written {
  readonly text: string;
  readonly cuts: readonly (Cut & { readonly endOffset: number })[];
}

interface Ended {
  readonly cuts: readonly Cut[];
  readonly error: string | null;
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function cutAll(pieces: Iterable<Uint8Array>, wanted: JsonSelection = WANTED): Ended {
  const cutter = new JsonCutter(wanted);
  const cuts: Cut[] = [];
  try {
    for (const piece of pieces) {
      // The caller may reuse the memory of chunks.
      const lent = piece.slice();
      cutter.push(lent);
      for (let cut = cutter.next(); cut !== null; cut = cutter.next()) cuts.push(cut);
      lent.fill(0x21);
    }
    cutter.end();
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return { cuts, error: error.message };
  }
  return { cuts, error: null };
}

function* inPieces(bytes: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
  for (let at = 0, index = 0; at < bytes.length; index++) {
    const size = sizes[index % sizes.length]!;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

function valuesOf(text: string, wanted: JsonSelection = WANTED) {
  const { cuts, error } = cutAll([bytesOf(text)], wanted);
  return { values: cuts.map(({ value, fault }) => fault ?? value), error };
}

/** A value without what lies deeper in it. */
function pruned(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return depth === 0 ? [] : value.map((each) => pruned(each, depth - 1));
  if (depth === 0) return {};
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, pruned(each, depth - 1)]));
}

const white = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
const name = fc.oneof(
  fc.constantFrom("locations", "rawSignals", "type", "other", "__proto__", "", 'a"b\\'),
  fc.string(),
);
const value = fc.jsonValue({ maxDepth: 4 });

/** A text of members or of things, and what must be cut out of it. */
const written: fc.Arbitrary<Written> = fc
  .record({
    mark: fc.boolean(),
    isList: fc.boolean(),
    members: fc.array(
      fc.record({
        name,
        values: fc.array(value, { maxLength: 4 }),
        one: fc.option(value, { nil: undefined }),
      }),
      {
        maxLength: 5,
      },
    ),
    indent: fc.constantFrom(undefined, 1),
    white,
  })
  .map(({ mark, isList, members, indent, white }) => {
    let text = mark ? "\ufeff" : "";
    const cuts: Written["cuts"][number][] = [];
    const put = (member: string | null, each: unknown, isWanted: boolean) => {
      const offset = bytesOf(text).length;
      text += JSON.stringify(each, null, indent);
      // A number or a word may go on as long as nothing follows it.
      const endOffset = bytesOf(text).length + (/[\]}"]$/.test(text) ? 0 : 1);
      if (isWanted)
        cuts.push({ member, offset, value: JSON.parse(JSON.stringify(each)), fault: null, endOffset });
    };
    const putList = (member: string | null, values: readonly unknown[], isWanted: boolean) => {
      text += `[${white}`;
      for (const [index, each] of values.entries()) {
        if (index > 0) text += `,${white}`;
        put(member, each, isWanted);
        text += white;
      }
      text += "]";
    };
    if (isList)
      putList(
        null,
        members.flatMap(({ values }) => values),
        true,
      );
    else {
      text += `{${white}`;
      for (const [index, { name, values, one }] of members.entries()) {
        if (index > 0) text += `${white},`;
        text += `${JSON.stringify(name)}${white}:${white}`;
        const isMember = WANTED.members.includes(name);
        if (WANTED.lists.includes(name)) putList(name, values, true);
        else if (one === undefined && !isMember) putList(name, values, false);
        else put(name, one ?? values, isMember);
      }
      text += `${white}}`;
    }
    return { text, cuts };
  });

const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 });

describe("JsonCutter", () => {
  test("cuts out what parsing the whole gives, whatever the pieces", () => {
    fc.assert(
      fc.property(written, sizes, ({ text, cuts }, sizes) => {
        JSON.parse(text.replace(/^\ufeff/, ""));
        const found = cutAll(inPieces(bytesOf(text), sizes));
        expect(found).toEqual({ cuts: cuts.map(({ endOffset: _, ...cut }) => cut), error: null });
      }),
      { numRuns: 500 },
    );
  });

  test("gives everything complete before a cut at any byte, then says where the file ends", () => {
    fc.assert(
      fc.property(written, sizes, ({ text, cuts }, sizes) => {
        const bytes = bytesOf(text);
        for (let end = 0; end < bytes.length; end++) {
          const found = cutAll(inPieces(bytes.subarray(0, end), sizes));
          const complete = cuts.filter(({ endOffset }) => endOffset <= end);
          expect(found.cuts).toEqual(complete.map(({ endOffset: _, ...cut }) => cut));
          expect(found.error).toBe(`the file is cut off at byte ${end.toLocaleString("en-US")}`);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("throws nothing but FormatError for any bytes, and finds the same in any pieces", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.stringMatching(/^[{}[\]",:\\a1 \n-]{0,60}$/).map(bytesOf),
      fc
        .tuple(written, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 3 }))
        .map(([{ text }, at, noise]) => {
          const broken = bytesOf(text);
          broken.set(noise.subarray(0, broken.length), at % Math.max(1, broken.length - noise.length));
          return broken;
        }),
    );
    fc.assert(
      fc.property(bytes, sizes, (bytes, sizes) => {
        expect(cutAll(inPieces(bytes, sizes))).toEqual(cutAll([bytes]));
      }),
      { numRuns: 2000 },
    );
  });

  test("takes what lies deeper than is wanted for empty, whatever the pieces", () => {
    fc.assert(
      fc.property(written, sizes, fc.integer({ min: 1, max: 3 }), ({ text, cuts }, sizes, depth) => {
        const found = cutAll(inPieces(bytesOf(text), sizes), { ...WANTED, depth });
        expect(found).toEqual({
          cuts: cuts.map(({ endOffset: _, ...cut }) => ({ ...cut, value: pruned(cut.value, depth) })),
          error: null,
        });
      }),
      { numRuns: 500 },
    );
  });

  test("keeps nothing of what lies too deep, however much it is", () => {
    const many = `[${"0,".repeat(9 * MEBIBYTE)}"${"x".repeat(2 * MEBIBYTE)}"]`;
    const text = `{"locations":[{"a":${many},"b":{"c":[1]},"d":2}]}`;
    const { cuts } = cutAll(inPieces(bytesOf(text), [100_000]), { ...WANTED, depth: 1 });
    expect(cuts.map(({ value, fault }) => fault ?? value)).toEqual([{ a: [], b: {}, d: 2 }]);
  });

  test("loses of a list no more than what is no JSON", () => {
    expect(valuesOf('{"locations":[1,{"a":tru},{"b":2},nul,{"c":[3},NaN,"\\x",{"d":4}]}')).toEqual({
      values: [1, "unreadable", { b: 2 }, "unreadable", "unreadable", "unreadable", "unreadable", { d: 4 }],
      error: null,
    });
    expect(valuesOf('[{"a":1}{"b":2},,{"c":3},]')).toEqual({
      values: [{ a: 1 }, { b: 2 }, { c: 3 }],
      error: null,
    });
  });

  test("stops where brackets no longer tell what is what", () => {
    expect(valuesOf('{"locations":[{"a":1},{"b":2],{"c":3}]}')).toEqual({
      values: [{ a: 1 }],
      error: "a bracket closes nothing at byte 28",
    });
    expect(valuesOf('{"locations":[{"a":1}}').error).toBe("a brace closes a list at byte 21");
    expect(valuesOf('{"type" 1}').error).toBe("a colon is missing at byte 8");
    expect(valuesOf('{"type":,}').error).toBe("a value is missing at byte 8");
    expect(valuesOf("{type:1}").error).toBe("no name begins at byte 1");
    expect(valuesOf("[] []").error).toBe("the file continues after its end at byte 3");
    expect(valuesOf("1").error).toBe("neither an object nor a list begins at byte 0");
    expect(valuesOf("").error).toBe("the file is cut off at byte 0");
  });

  test("takes names as their escapes mean them, and of members given twice both", () => {
    expect(valuesOf('{"loc\\u0061tions":[1],"locations":[2],"type":3,"type":4}').values).toEqual([
      1, 2, 3, 4,
    ]);
  });

  test("walks over a list that is the whole text where none is wanted", () => {
    expect(valuesOf("[1,[2]]", { ...WANTED, isList: false })).toEqual({ values: [], error: null });
  });

  test("follows 64 values within each other and walks over what is deeper", () => {
    const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
    const { values, error } = valuesOf(`{"locations":[${nested(64)},${nested(65)},${nested(1e6)},{"a":1}]}`);
    expect(values.slice(1)).toEqual(["unreadable", "unreadable", { a: 1 }]);
    expect(JSON.stringify(values[0])).toBe(nested(64));
    expect(error).toBeNull();
    expect(valuesOf("[".repeat(1e6)).error).toBe("the file is cut off at byte 1,000,000");
  });

  test.each([64 * 1024, 3 * MEBIBYTE, 50 * MEBIBYTE])(
    "takes a long text for an empty one, in pieces of %d",
    (size) => {
      const long = (bytes: number) => `${"x".repeat(bytes - 2)}\\"`;
      const text = `{"locations":[{"a":"${long(MEBIBYTE)}","b":1},{"image":"${long(MEBIBYTE + 1)}","lat":1},{"c":"${long(3 * MEBIBYTE)}"}]}`;
      const { cuts, error } = cutAll(inPieces(bytesOf(text), [size]));
      expect(cuts.slice(1).map(({ value }) => value)).toEqual([{ image: "", lat: 1 }, { c: "" }]);
      expect((cuts[0]!.value as { a: string }).a).toHaveLength(MEBIBYTE - 1);
      expect(error).toBeNull();
    },
  );

  test.each([256 * 1024, 50 * MEBIBYTE])(
    "walks over a value of more than 16 MiB, in pieces of %d",
    (size) => {
      const many = `[${"0,".repeat(8 * MEBIBYTE)}0]`;
      const { cuts, error } = cutAll(inPieces(bytesOf(`{"locations":[{"a":${many}},{"b":2}]}`), [size]));
      expect(cuts.map(({ value, fault }) => fault ?? value)).toEqual(["too_large", { b: 2 }]);
      expect(error).toBeNull();
    },
  );
});
