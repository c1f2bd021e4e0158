import { type BaseMap, openBaseMap } from "../../src/map/base-map.ts";
import { createNodeInputs } from "../../src/runtime/node-inputs.ts";

let opened: Promise<BaseMap> | null = null;

/** The world of the project without streets, opened once for all tests of a process. */
export function openTestBaseMap(): Promise<BaseMap> {
  opened ??= openBaseMap(createNodeInputs(), null);
  return opened;
}
