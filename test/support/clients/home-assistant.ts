import { assert } from "../../../src/lib/assert.ts";

/** Home Assistant's state of a tracker; unknown attributes are missing. */
export interface KnownTracker {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly battery: string;
  /** In Python's format. */
  readonly time: string;
}

/** The sending part of Home Assistant's configuration. */
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
 * Renders the payload of a `rest_command`. It must be a single value for `tojson`, which JavaScript can evaluate like a
 * template; throws for any other template.
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
