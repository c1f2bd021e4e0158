import { expect, test } from "bun:test";
import { mapLink } from "../../../../src/cli/serve/sign-in.ts";

test("mapLink() is the map's address with the code behind a #, which no browser sends", () => {
  expect(mapLink("http://127.0.0.1:3000", "c1.x-_")).toBe("http://127.0.0.1:3000/map#code=c1.x-_");
  expect(mapLink("https://example.org/tracks", "c1")).toBe("https://example.org/tracks/map#code=c1");
  expect(mapLink("http://a:1", "c1", "?at=56,11.5,7")).toBe("http://a:1/map?at=56,11.5,7#code=c1");
});

test("mapLink() opens a server that listens at all addresses at this machine's own", () => {
  expect(mapLink("http://0.0.0.0:3000", "c1")).toBe("http://localhost:3000/map#code=c1");
  expect(mapLink("http://[::]:3000", "c1")).toBe("http://localhost:3000/map#code=c1");
});
