import { assert } from "../../../src/lib/assert.ts";

/** What Home Assistant knows of a tracker; an attribute that it doesn't have is left out. */
export interface KnownTracker {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly battery: string;
  /** As Python writes it. */
  readonly time: string;
}

/** Home Assistant's file, as far as it sends. */
export interface HomeAssistantFile {
  readonly rest_command: {
    readonly wherehouse: {
      readonly url: string;
      readonly method: string;
      readonly headers: Record<string, string>;
      readonly payload: string;
    };
  };
}

/**
 * Renders the payload of a `rest_command`, which has to be one value that `tojson` writes: such a value reads in
 * JavaScript as it does in a template, and whatever it holds is JSON. Throws for any other template.
 */
export function renderPayload(payload: string, { attributes, battery, time }: KnownTracker): string {
  const [, value] = /^\{\{(.*)\| tojson \}\}$/s.exec(payload.trim()) ?? [];
  assert(value !== undefined && !value.includes("}}\n"), "the payload is one value that tojson writes");
  const instant = { isoformat: () => time };
  const states = Object.assign(() => battery, { "device_tracker.phone": { last_updated: instant } });
  const stateAttr = (_entity: string, name: string) => attributes[name] ?? null;
  const evaluate = new Function("tracker", "states", "state_attr", "now", `return (${value});`);
  return JSON.stringify(evaluate("device_tracker.phone", states, stateAttr, () => instant));
}
