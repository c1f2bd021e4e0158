import type { CDPSession } from "playwright-core";

/** The owner of the functions in which time was spent; `browser` is all other work of the main thread. */
export type Owner = "ours" | "MapLibre" | "lit-html" | "browser";

const SAMPLE_MICROS = 200;
/** The profiler's names for time that is not the page's work. */
const IDLE = "(idle)";

/**
 * The main thread's activity by a sampling profiler, in wall-clock ms. Waiting for the processor or for WebGL counts as
 * the caller's.
 */
export async function profileScripts(
  session: CDPSession,
  work: () => Promise<void>,
): Promise<Readonly<Record<Owner, number>>> {
  await session.send("Profiler.enable");
  await session.send("Profiler.setSamplingInterval", { interval: SAMPLE_MICROS });
  await session.send("Profiler.start");
  await work();
  const { profile } = await session.send("Profiler.stop");
  const owners = new Map<number, Owner | null>();
  const visit = (id: number, above: Owner) => {
    const { callFrame, children = [] } = nodes.get(id)!;
    // Functions of the browser count for their caller.
    const owner = callFrame.url === "" ? above : ownerOf(callFrame.url);
    owners.set(id, callFrame.functionName === IDLE ? null : owner);
    for (const child of children) visit(child, owner);
  };
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  visit(profile.nodes[0]!.id, "browser");
  const spent: Record<Owner, number> = { ours: 0, MapLibre: 0, "lit-html": 0, browser: 0 };
  for (const [index, id] of profile.samples!.entries()) {
    const owner = owners.get(id)!;
    if (owner !== null) spent[owner] += profile.timeDeltas![index]! / 1000;
  }
  return spent;
}

function ownerOf(url: string): Owner {
  if (url.includes("/map/app/")) return "ours";
  if (url.includes("/maplibre-gl@")) return "MapLibre";
  return url.includes("/lit-html@") ? "lit-html" : "browser";
}
