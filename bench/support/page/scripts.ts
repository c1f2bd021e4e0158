import type { CDPSession } from "playwright-core";

/** Whose functions a script's time was spent in; `browser` is everything else that kept the main thread. */
export type Owner = "ours" | "MapLibre" | "lit-html" | "browser";

const SAMPLE_MICROS = 200;
/** The profiler's names for what is no work of the page. */
const IDLE = "(idle)";

/**
 * What the main thread did meanwhile, by a sampling profiler, in ms by the clock. Where others take the processor, or
 * WebGL makes a caller wait, that counts as the caller's.
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
    // Functions of the browser itself count for who called them.
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
