import { fail, ok, type Result } from "../../lib/result.ts";
import type { Bounds } from "../../map/tile-file.ts";
import { type CommandInput, defineCommand } from "../arguments/command.ts";
import { MAP_FETCH_FLAGS } from "./flags.ts";

export const MAP_FETCH = defineCommand({
  name: "map fetch",
  takes: "",
  summary: "copy the streets of an area from a map on the web",
  flags: MAP_FETCH_FLAGS,
  help: {
    ways: ["--from URL --near PLACE", "--from URL --bbox W,S,E,N"],
    before: `\
Copies the tiles of an area out of a PMTiles archive into map/ of the data directory, and nothing else of it.
It first prints how many tiles and bytes these are, and asks. A server that is started without --map shows the
streets of all files in map/. They are not in backups, since they can be copied again.`,
    after: `After an interruption, the same command continues where it stopped. A file of the same area is replaced once
the new one is complete. Exit code 1 if the archive can't be copied, or changed meanwhile; 2 if no place, or
more than one, has the name.`,
    example: (program) =>
      `${program} map fetch --from https://maps.example.org/planet.pmtiles --near "Liverpool, GB" --radius 20mi`,
  },
  parse: parseMapFetch,
});

export interface MapFetchOptions {
  readonly dataDir: string;
  readonly url: string;
  readonly area: NamedArea;
  readonly maxZoom: number | null;
  readonly yes: boolean;
}

/** The area as the command line names it. */
export type NamedArea =
  | { readonly kind: "box"; readonly bounds: Bounds }
  | { readonly kind: "near"; readonly place: string; readonly radiusMeters: number };

function parseMapFetch({
  values,
  dataDir,
}: CommandInput<typeof MAP_FETCH_FLAGS>): Result<MapFetchOptions, string> {
  const { url, near, radiusMeters, box, maxZoom, yes } = values;
  if (near !== null && box !== null) return fail("--near and --bbox exclude each other");
  if (box !== null) return ok({ dataDir, url, area: { kind: "box", bounds: box }, maxZoom, yes });
  if (near === null) return fail("map fetch needs --near or --bbox");
  return ok({ dataDir, url, area: { kind: "near", place: near, radiusMeters }, maxZoom, yes });
}
