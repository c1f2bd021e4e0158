import { type BaseMap, openBaseMap } from "../../src/map/base-map.ts";
import { createNodeInputs } from "../../src/runtime/node-inputs.ts";

let opened: Promise<BaseMap> | null = null;

/** Opens the project's base map without streets, once per test process. */
export function openTestBaseMap(): Promise<BaseMap> {
  opened ??= openBaseMap(createNodeInputs(), null);
  return opened;
}
