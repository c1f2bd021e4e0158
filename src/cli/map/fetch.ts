import { createHash } from "node:crypto";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { directoryPaths } from "../../directory/paths.ts";
import { refuseForeign } from "../../directory/take-directory.ts";
import { printableLine } from "../../lib/text/printable.ts";
import { PLACES_FILE } from "../../map/read-places.ts";
import { copyArchive } from "../../map/streets/copy-archive.ts";
import { type CopyPlan, planCopy } from "../../map/streets/copy-plan.ts";
import { RemoteArchive } from "../../map/streets/remote-archive.ts";
import { openTileFile } from "../../map/tile-file.ts";
import type { CommandContext } from "../arguments/command.ts";
import { newDirectoryText } from "../directory/data-directory.ts";
import { countOf, formatCount } from "../screen/layout.ts";
import { createStepBars, type StepBars } from "../screen/progress-bar.ts";
import { type ChosenArea, chooseArea } from "./choose-area.ts";
import type { MapFetchOptions } from "./command.ts";

/** Copies the tiles of an area into `map/` of the data directory; returns the exit code. */
export async function fetchMap(options: MapFetchOptions, context: CommandContext): Promise<number> {
  const { platform, terminal } = context;
  await refuseForeign(platform.files, options.dataDir);
  const area = chooseArea(options.area, await platform.readAsset(PLACES_FILE));
  if (!area.ok) {
    for (const line of area.error.split("\n")) terminal.error(`${printableLine(line)}\n`);
    return 2;
  }
  const bars = createStepBars(terminal);
  const stop = new AbortController();
  try {
    return await fetchArea(options, area.value, bars, stop, context);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    bars.say("Interrupted. The same command continues.");
    return 1;
  } finally {
    stop.abort(); // Ends the requests that still run after a failure.
    bars.clear();
  }
}

async function fetchArea(
  { dataDir, url, maxZoom, yes }: MapFetchOptions,
  area: ChosenArea,
  bars: StepBars,
  stop: AbortController,
  { platform, clock, terminal, stopSignal }: CommandContext,
): Promise<number> {
  const { files, inputs, acquireLock, pid } = platform;
  const { archive, header } = await RemoteArchive.open(url, {
    fetch: (address, init) => fetch(address, init),
    signal: stop.signal,
  });
  let directories = 0;
  const plan = await planCopy(
    { bounds: area.bounds, maxZoom },
    {
      source: archive,
      header,
      pack: (bytes) => gzipSync(bytes),
      onDirectory: () =>
        bars.show("Reading directories", { done: ++directories, total: null, count: directories }),
    },
  );
  const { map } = directoryPaths(dataDir);
  const path = join(map, `${area.slug}.pmtiles`);
  bars.say(overviewText(plan, area, archive.getKey()));
  bars.say(`They go to ${path}`);
  const answer = yes ? "y" : await platform.readTypedLine(() => terminal.error("Copy them? [y/N] "));
  if (answer === null || !/^y(es)?$/i.test(answer.trim())) {
    bars.say(answer === null ? "Nothing was copied: give --yes to copy them." : "Nothing was copied.");
    return 1;
  }

  if (!(await files.exists(dataDir))) bars.say(newDirectoryText(dataDir));
  await files.makeDirectory(map);
  const owner = { pid, command: "map fetch", sinceMs: clock.nowMs() };
  const lock = await acquireLock(join(map, "lock"), owner);
  if (!lock.ok) {
    bars.say(`Another "map fetch" copies into ${map} at the moment.`);
    return 1;
  }
  stopSignal().addEventListener("abort", () => stop.abort());
  try {
    const { requestBytes: total } = plan;
    const { validator, sizeBytes } = archive;
    const sourceId = validator === "" ? "" : `${sha256(url)} ${sizeBytes} ${validator}`;
    const earlierBytes = await copyArchive(
      plan,
      { path, sourceId },
      {
        files,
        source: archive,
        signal: stop.signal,
        check: async (part) => (await openTileFile(inputs, part)).close(),
        onProgress: (done) => bars.show("Copying", { done, total, count: null }),
      },
    );
    if (earlierBytes > 0) bars.say(`Continued an earlier copy after ${megabytes(earlierBytes)}.`);
  } finally {
    lock.release();
  }
  bars.clear();
  const what = `${countOf(plan.tiles, "tile")} (${megabytes(plan.archiveBytes)})`;
  terminal.out(`Copied ${what} to ${path}. A server shows them after its next start.\n`);
  return 0;
}

function overviewText(
  { tiles, zooms, archiveBytes, requestBytes, requests }: CopyPlan,
  area: ChosenArea,
  source: string,
) {
  const what = `${countOf(tiles, "tile")} of zooms ${zooms[0]} to ${zooms[1]}, ${megabytes(archiveBytes)}`;
  const how = `${megabytes(requestBytes)} in ${formatCount(requests.length)} requests`;
  return `${area.label}: ${what}, by transferring ${how} from ${source}.`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Instead of the address, whose query may hold a secret. */
function sha256(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
