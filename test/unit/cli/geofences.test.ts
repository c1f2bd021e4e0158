import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startHelper } from "../../../src/runtime/helper/spawn-helper.ts";
import { createTestApp } from "../../support/test-app.ts";
import { runCli, withDirectory } from "./support/run-cli.ts";

/** `geofences list`, `import` and `export`, in a directory and beside a server that answers them. */

const KML = `<kml><Placemark><name>Road</name><LineString><coordinates>0,0 1,1</coordinates></LineString></Placemark>
<Placemark><name>Yard</name><Point><coordinates>7,8</coordinates></Point></Placemark></kml>`;

type Run = (verb: string, ...args: string[]) => ReturnType<typeof runCli>;

async function expectStory(run: Run, root: string): Promise<void> {
  const [kml, broken, exported] = ["a.kml", "b.kml", "c.geojson"].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(kml, KML);
  writeFileSync(broken, KML.replace("7,8", "7,98"));
  expect(await run("list")).toMatchObject({ code: 0, error: "There are no such geofences.\n" });
  expect(await run("import", kml, "--dry-run")).toMatchObject({
    code: 0,
    out: "",
    error: "The file has 2 geofences.\n",
  });
  const refused = await run("import", broken);
  expect(refused.code).toBe(1);
  expect(refused.error).toContain(
    'Placemark 2 "Yard" (line 2): geometry.coordinates must have a latitude from -90 to 90',
  );
  expect(await run("list", "--json")).toMatchObject({ out: "[]\n" });
  const imported = await run("import", kml, "--radius", "300");
  expect(imported).toMatchObject({ code: 0, error: "Made 2 geofences.\n" });
  const { out: listed } = await run("list");
  expect(listed).toMatch(/^id +version +area +active +name +tags\n/);
  for (const id of imported.out.trim().split("\n")) expect(listed).toContain(id);
  const { out } = await run("export");
  const { features } = JSON.parse(out) as { features: { properties: Record<string, unknown> }[] };
  expect(
    features.map(({ properties }) => [properties.name, properties.radius_meters, properties.buffer_meters]),
  ).toEqual([
    ["Road", undefined, 50],
    ["Yard", 300, undefined],
  ]);
  writeFileSync(exported, out);
  expect((await run("import", exported)).code).toBe(0);
  expect((JSON.parse((await run("list", "--json")).out) as unknown[]).length).toBe(4);
}

test("geofences are imported, listed and exported in a directory", () =>
  withDirectory(async (root) => {
    const dataDir = join(root, "data");
    const keys = ["keys", "create", "--app", "shop", "--permission", "manage", "--data-dir", dataDir];
    expect((await runCli(...keys)).code).toBe(0);
    await expectStory(
      (...args) => runCli("geofences", ...args, "--data-dir", dataDir, "--app", "shop"),
      root,
    );
  }));

test("geofences are imported, listed and exported through a running server", () =>
  withDirectory(async (root) => {
    const app = await createTestApp({ startHelper });
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch({ url, method, headers, body }) {
        const { pathname, search } = new URL(url);
        return app.fetch(pathname + search, { method, headers, body });
      },
    });
    const where = ["--url", `http://127.0.0.1:${server.port}`, "--key", app.keys.full];
    try {
      await expectStory((...args) => runCli("geofences", ...args, ...where), root);
    } finally {
      await server.stop(true);
    }
  }));
