import { expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { ApiError } from "../../../../src/web/api/api-error.ts";
import { Retries } from "../../../../src/web/api/retries.ts";
import type { QueuedFile } from "../../../../src/web/import/chosen-files.ts";
import type { ImportAnswer } from "../../../../src/web/import/import-answer.ts";
import { Importing, type ImportingParts } from "../../../../src/web/import/importing.ts";
import type { PackedFile } from "../../../../src/web/import/send-file.ts";
import { Copying } from "../../../../src/web/keys/copying.ts";
import { turns } from "../../../support/turns.ts";

const TIME_MS = Date.UTC(2026, 1, 2, 2, 40);

function answerWith(members: Partial<ImportAnswer>): ImportAnswer {
  return {
    ...{ dry_run: true, format: "gpx", recognized_by: "its outermost element is <gpx>" },
    ...{ usable: 3, skipped: 0, already_there: 0, skips: [], remarks: [], left_out: [] },
    ...{ devices: ["bike"], has_more_devices: false, first: TIME_MS, last: TIME_MS },
    lines: [
      [
        [13.4, 52.5],
        [13.5, 52.6],
      ],
    ],
    ...members,
  };
}

const NO_DEVICE = answerWith({
  ...{ usable: 0, skipped: 3, devices: [], lines: [] },
  skips: [{ reason: "bad_device", message: "with a device that can't be one", count: 3, places: [] }],
});

type Reply = ImportAnswer | ApiError | "never";

/** A page and a server that answers as the test says, request by request. */
function setUp(replies: Reply[], chosenId: string | null = null) {
  const seen = {
    queries: [] as object[],
    bodies: [] as Blob[],
    previews: [] as number[],
    fits: 0,
    imported: 0,
    shown: [] as unknown[],
  };
  const waits: (() => boolean)[] = [];
  const check = () => {
    for (const isDone of waits.splice(0)) if (!isDone()) waits.push(isDone);
  };
  const parts: ImportingParts = {
    api: { fetch: async () => new Response(), retries: new Retries(() => 0) },
    table: {
      ...{ size: 2, ids: ["bike", "bus"], labels: ["bike", "Anna's bus"] },
      rowOf: (id) => (id === "bike" ? 0 : undefined),
      labelOf: (id) => (id === "bus" ? "Anna's bus" : id),
    },
    chosen: {
      id: chosenId,
      choose: (id) => seen.shown.push(id),
      look: (day, { name }) => seen.shown.push(day, name),
    },
    zones: { zone: "Europe/Berlin" },
    map: {
      setPreview: (lines) => seen.previews.push(lines.length),
      fit: () => {
        seen.fits++;
      },
    },
    copying: new Copying(() => undefined),
    origin: "https://where.example",
    onImported: () => {
      seen.imported++;
    },
    changed: check,
    async send<Body>(
      _api: unknown,
      file: PackedFile | null,
      query: object,
      { signal }: { signal: AbortSignal },
    ) {
      seen.bodies.push(file!.body);
      seen.queries.push(JSON.parse(JSON.stringify(query)));
      const reply = replies.shift()!;
      if (reply === "never")
        return new Promise<Body>((_, reject) => {
          signal.addEventListener("abort", () => reject(new DOMException("given up", "AbortError")));
        });
      if (reply instanceof ApiError) throw reply;
      return reply as Body;
    },
  };
  const importing = new Importing(parts);
  /** Resolves once the dialog is at a step. */
  const reach = (kind: Importing["step"]["kind"]) =>
    new Promise<void>((resolve) => {
      waits.push(() => {
        if (importing.step.kind !== kind) return false;
        resolve();
        return true;
      });
      check();
    });
  return { importing, seen, reach };
}

function fileOf(name: string, text = "<gpx/>"): QueuedFile {
  return { name, size: text.length, isFolder: false, content: new Blob([text]) };
}

/** A file that is packed as slowly as the test says. */
function slowFileOf(name: string) {
  const content = new Blob([`<gpx>${name}${" ".repeat(100_000)}</gpx>`]);
  const begin = Promise.withResolvers<void>();
  const arrival = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const stream = () => {
    begin.resolve();
    return new ReadableStream<Uint8Array>({
      async pull(controller) {
        await arrival.promise;
        const bytes = await content.bytes();
        if (isLeft) return;
        controller.enqueue(bytes);
        controller.close();
        end.resolve();
      },
      cancel() {
        isLeft = true;
        end.resolve();
      },
    });
  };
  let isLeft = false;
  const file: QueuedFile = {
    ...{ name, size: content.size, isFolder: false },
    content: Object.assign(content, { stream }),
  };
  /** Resolves once the packing has begun. */
  const isBegun = begin.promise;
  /** Lets the content arrive, and waits until it is packed, or was left before. */
  const arrive = async () => {
    arrival.resolve();
    await end.promise;
    await turns(PACKING_TURNS);
  };
  return { file, isBegun, arrive };
}

/** Enough for the packing of a file that has arrived. */
const PACKING_TURNS = 300;

async function textOf(body: Blob): Promise<string> {
  const bytes = new Uint8Array(await body.arrayBuffer());
  return (bytes[0] === 0x1f ? gunzipSync(bytes) : Buffer.from(bytes)).toString().replaceAll(" ", "");
}

test("a file is previewed, imported into the chosen device, and its day shown", async () => {
  const { importing, seen, reach } = setUp([answerWith({}), answerWith({ new: 3 })], "bike");
  importing.open([fileOf("ride.gpx")]);
  await reach("preview");
  expect([importing.isReady, seen.fits, seen.previews.at(-1)]).toEqual([true, 1, 1]);
  await importing.begin();
  expect(importing.step).toMatchObject({ kind: "done", answer: { new: 3 } });
  expect(seen.queries).toEqual([
    { device_id: "bike", timezone: null, dry_run: true },
    { device_id: "bike", timezone: null, skip_old: false },
  ]);
  expect(seen.imported).toBe(1);
  importing.showDay();
  expect(seen.shown).toEqual(["bike", "2026-02-02", "day"]);
  expect([importing.isOpen, seen.previews.at(-1)]).toEqual([false, 0]);
});

test("without a chosen device it is that of the file, else the file's name", async () => {
  const named = setUp([answerWith({})]);
  named.importing.open([fileOf("ride.gpx")]);
  await named.reach("preview");
  expect(named.importing.deviceId).toBeNull();

  const { importing, seen, reach } = setUp([NO_DEVICE, answerWith({}), NO_DEVICE]);
  importing.open([fileOf("Ride.gpx")]);
  await reach("preview");
  expect([importing.deviceId, importing.search]).toEqual(["Ride", "Ride"]);
  expect(seen.queries).toMatchObject([{ device_id: null }, { device_id: "Ride" }]);
  importing.setDevice(null); // The user insists, so nothing can be imported.
  await reach("preview");
  expect([importing.deviceId, importing.isReady]).toEqual([null, false]);
});

test("another device is looked at again, and stays for the next file", async () => {
  const { importing, seen, reach } = setUp([answerWith({}), answerWith({}), answerWith({})]);
  importing.open([fileOf("a.gpx"), fileOf("b.gpx")]);
  await reach("preview");
  importing.type("bu");
  expect(importing.suggestions()).toEqual(["bus"]);
  importing.setDevice("bus");
  await reach("preview");
  expect([importing.place, importing.hasNext]).toEqual([{ number: 1, count: 2 }, true]);
  importing.next();
  await reach("preview");
  expect(importing.file!.name).toBe("b.gpx");
  expect(seen.queries.map((query) => (query as { device_id: unknown }).device_id)).toEqual([
    ...[null, "bus", "bus"],
  ]);
  importing.next();
  expect([importing.file, importing.step.kind]).toEqual([null, "choose"]);
});

test("positions before the retention need the user's word", async () => {
  const skips = [{ reason: "too_old", message: "before the retention", count: 5, places: [] }];
  const { importing, seen, reach } = setUp([answerWith({ skips, skipped: 5 }), answerWith({ new: 3 })]);
  importing.open([fileOf("old.gpx")]);
  await reach("preview");
  expect(importing.isReady).toBe(false);
  await importing.begin();
  expect(seen.queries.length).toBe(1);
  importing.skipOld(true);
  await importing.begin();
  expect(seen.queries[1]).toMatchObject({ skip_old: true });
});

test("times without a zone are read in the page's zone if the user says so", async () => {
  const refusal = new ApiError(400, '"2026-03-20T10:00:00" has no time zone: name it, as with timezone=UTC', {
    isOurs: true,
  });
  const { importing, seen, reach } = setUp([refusal, answerWith({})]);
  importing.open([fileOf("a.geojson", "{}")]);
  await reach("preview");
  expect(importing.step).toMatchObject({ answer: null, fault: { needsZone: true, hasCommand: false } });
  importing.useZone();
  await reach("preview");
  expect(importing.step).toMatchObject({ fault: null });
  expect(seen.queries[1]).toMatchObject({ timezone: "Europe/Berlin" });
});

test("a busy server is asked again, and other failures are shown in the server's words", async () => {
  const busy = new ApiError(503, "another file is being read; send this one again shortly", {
    ...{ isOurs: true, retryAfterSeconds: 5 },
  });
  const slow = new ApiError(503, "the file took longer than 10 s to read; send it again later", {
    ...{ isOurs: true, retryAfterSeconds: 60 },
  });
  const { importing, reach } = setUp([busy, busy, slow]);
  importing.open([fileOf("a.gpx")]);
  await reach("preview");
  expect(importing.step).toMatchObject({
    fault: { sentence: "The file took longer than 10 s to read; send it again later.", hasCommand: true },
  });
  expect(importing.waiting).toBeNull();
});

test("other files and folders are for the import command, without a request", async () => {
  const { importing, seen, reach } = setUp([]);
  importing.open([fileOf("a.csv", "lat,lon")]);
  await reach("command");
  expect(importing.step).toMatchObject({ reason: "It is not GPX, KML or GeoJSON." });
  importing.close();
  importing.open([{ ...fileOf("Takeout"), isFolder: true }]);
  await reach("command");
  expect([importing.file!.name, seen.queries]).toEqual(["Takeout", []]);
});

test("a cancelled import says what became of it, and the page loads what came in", async () => {
  const { importing, seen, reach } = setUp([answerWith({}), "never"]);
  importing.open([fileOf("a.gpx")]);
  await reach("preview");
  const end = importing.begin();
  await turns(); // The request begins.
  importing.cancel();
  await end;
  expect(importing.step).toMatchObject({
    kind: "preview",
    fault: { sentence: expect.stringMatching(/^Cancelled/) },
  });
  expect([importing.isReady, seen.imported]).toEqual([true, 1]);
});

test("closing cancels, and the next file begins anew", async () => {
  const { importing, seen, reach } = setUp([answerWith({}), "never", answerWith({})]);
  importing.open([fileOf("a.gpx")]);
  await reach("preview");
  const end = importing.begin();
  await turns(); // The request begins.
  importing.close();
  await end;
  expect(seen.imported).toBe(1);
  importing.open([fileOf("b.gpx")]);
  await reach("preview");
  expect([importing.file!.name, importing.place]).toEqual(["b.gpx", null]);
});

test.each([
  ["Next file", (importing: Importing) => importing.next()],
  ["Esc and another drop", (importing: Importing) => importing.close()],
])("a file that is left by %s while it is packed is never sent", async (_, leave) => {
  const { importing, seen, reach } = setUp([answerWith({}), answerWith({ new: 3 })]);
  const { file, isBegun, arrive } = slowFileOf("a.gpx");
  importing.open([file, fileOf("b.gpx", "<gpx>b</gpx>")]);
  await isBegun;
  leave(importing);
  if (!importing.isOpen) importing.open([fileOf("b.gpx", "<gpx>b</gpx>")]);
  await reach("preview");
  await arrive();
  await importing.begin();
  expect(importing.step.kind).toBe("done");
  expect(await Promise.all(seen.bodies.map(textOf))).toEqual(["<gpx>b</gpx>", "<gpx>b</gpx>"]);
});

test("a file that fails after it is left changes nothing for the next one", async () => {
  const { importing, seen, reach } = setUp([answerWith({}), answerWith({})]);
  const { promise, reject } = Promise.withResolvers<ArrayBuffer>();
  const content = Object.assign(new Blob(["<gpx/>"]), { slice: () => ({ arrayBuffer: () => promise }) });
  importing.open([{ ...fileOf("a.gpx"), content: content as unknown as Blob }]);
  const b = slowFileOf("b.gpx");
  importing.close();
  importing.open([b.file]);
  await b.isBegun;
  reject(new DOMException("The file is gone", "NotFoundError"));
  await turns();
  expect(importing.step.kind).toBe("looking");
  await b.arrive();
  await reach("preview");
  expect(await Promise.all(seen.bodies.map(textOf))).toEqual(["<gpx>b.gpx</gpx>"]);
});

test("a device that is chosen while the file is packed is asked about once it is packed", async () => {
  const { importing, seen, reach } = setUp([answerWith({}), answerWith({}), answerWith({})]);
  const [a, b] = [slowFileOf("a.gpx"), slowFileOf("b.gpx")];
  importing.open([a.file, b.file]);
  for (const [{ isBegun, arrive }, deviceId] of [
    [a, "bike"],
    [b, "bus"],
  ] as const) {
    await isBegun;
    const count = seen.bodies.length;
    importing.setDevice(deviceId);
    await turns();
    expect([importing.step.kind, seen.bodies.length]).toEqual(["looking", count]);
    await arrive();
    await reach("preview");
    expect(importing.step).toMatchObject({ fault: null });
    if (importing.hasNext) importing.next();
  }
  expect(seen.queries).toMatchObject([{ device_id: "bike" }, { device_id: "bus" }]);
  expect(await Promise.all(seen.bodies.map(textOf))).toEqual(["<gpx>a.gpx</gpx>", "<gpx>b.gpx</gpx>"]);
});

test("the last file can be left for another one while it is packed", async () => {
  const { importing, seen } = setUp([answerWith({})]);
  const { file, isBegun, arrive } = slowFileOf("a.gpx");
  importing.open([file]);
  await isBegun;
  importing.next();
  await arrive();
  expect([importing.file, importing.step.kind, seen.queries]).toEqual([null, "choose", []]);
});
