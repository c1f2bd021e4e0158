import { expect, test } from "bun:test";
import { checkReady } from "../../../../src/operator/checkup/check-ready.ts";

const URL = "https://example.org";

test("checkReady() counts damage that nobody has taken note of", async () => {
  const asked: string[] = [];
  const problems = await checkReady(URL, async (address) => {
    asked.push(address);
    return Response.json({ status: "ready", damaged: 2 });
  });
  expect(asked).toEqual(["https://example.org/ready"]);
  expect(problems).toMatchObject([{ what: expect.stringContaining("2 in all") }]);
});

test("checkReady() names a last seal that is long ago", async () => {
  const [since, never, timely] = await Promise.all(
    [
      { last: "2026-11-22T11:00:04.120Z", late: true },
      { last: null, late: true },
      { last: "2026-11-22T11:00:04.120Z", late: false },
    ].map((seal) => checkReady(URL, async () => Response.json({ status: "ready", damaged: 0, seal }))),
  );
  expect(since).toMatchObject([{ what: expect.stringContaining("since 2026-11-22T11:00:04.120Z") }]);
  expect(never).toMatchObject([{ what: expect.stringContaining("since it started") }]);
  expect(timely).toEqual([]);
});

test("checkReady() finds nothing where nothing is damaged, and where the server does not tell", async () => {
  const answers = [
    Response.json({ status: "ready", damaged: 0 }),
    Response.json({ status: "starting", replayed: 0, total: 1 }, { status: 503 }),
    new Response("<html>", { status: 502 }),
    Response.json(null),
  ];
  for (const answer of answers) expect(await checkReady(URL, async () => answer)).toEqual([]);
  expect(
    await checkReady(URL, async () => {
      throw new TypeError("fetch failed");
    }),
  ).toEqual([]);
});
