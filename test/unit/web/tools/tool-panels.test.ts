import { expect, test } from "bun:test";
import { nothing } from "lit-html";
import { mapCards } from "../../../../src/web/tools/tool-panels.ts";

const FAULT = "The server can't be reached.";

/** The text and the values of a template, and of those within it. */
function textOf(template: unknown): string {
  if (Array.isArray(template)) return template.map(textOf).join(" ");
  if (typeof template !== "object" || template === null || !("values" in template)) return String(template);
  const { strings, values } = template as { strings: readonly string[]; values: readonly unknown[] };
  return [...strings, ...values.map(textOf)].join(" ");
}

/** The cards over a city without streets. */
interface Covered {
  readonly live?: string | null;
  readonly late?: string | null;
  /** The card of a position that is being moved. */
  readonly card?: string | null;
}

function cards({ live = null, late = null, card = null }: Covered): string {
  const closed = { isOpen: false, fault: null, loaded: null };
  const parts = {
    tools: {
      density: closed,
      nearby: closed,
      making: { ...closed, fault: late },
      settings: closed,
      lapse: closed,
      fences: closed,
    },
    imports: { faultNote: () => nothing },
    device: { corrections: { loaded: { card: () => card } } },
    map: { streetsHint: { place: { latitude: 42, longitude: -71 } } },
    session: { may: () => true, facts: { view: null } },
    live: { isFilled: true, fault: live, state: live === null ? "live" : "reconnecting" },
    zones: { zone: "UTC" },
    settings: { units: "metric" },
    isEmpty: false,
  };
  return textOf(mapCards(parts as unknown as Parameters<typeof mapCards>[0]));
}

test("the note about streets gives way to a failure over the map, and to a position that is being moved", () => {
  const HINT = "No streets here yet";
  expect(cards({})).toContain(HINT);
  expect(cards({ card: "Move a position" })).not.toContain(HINT);
  for (const faults of [{ live: FAULT }, { late: FAULT }]) {
    const text = cards(faults);
    expect([text.includes(FAULT), text.includes(HINT)]).toEqual([true, false]);
  }
});
