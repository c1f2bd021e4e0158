import { expect, test } from "bun:test";
import fc from "fast-check";
import type { AppId } from "../../../../src/model/ids.ts";
import type { EventWriter } from "../../../../src/service/live/live.ts";
import { MergedViewer } from "../../../../src/service/live/merged-viewer.ts";
import { rejection } from "../../../support/rejection.ts";
import { turns } from "../../../support/turns.ts";
import { ScriptedViewer } from "../../http/answer/scripted-live.ts";

/* Two viewers as one: the pieces of each, in their order, and ids that are not ahead of what was sent. */

const QUERY = { sinceSequence: 0, box: null, deviceIds: null, userId: null, view: null };
const open = () => new ScriptedViewer("app" as AppId, QUERY, {} as EventWriter);

function openBoth() {
  const [positions, events] = [open(), open()];
  const merged = new MergedViewer(positions, events);
  const next = async () => {
    const piece = await merged.next();
    return piece === null ? null : new TextDecoder().decode(piece);
  };
  return { positions, events, merged, next };
}

/** The two send at their places; a position may come in parts. */
const actions = fc.array(
  fc.oneof(
    fc.record({ of: fc.constant("positions" as const), parts: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ of: fc.constant("events" as const), parts: fc.constant(1) }),
    fc.constant("read" as const),
  ),
  { maxLength: 40 },
);

test("all pieces arrive, the parts of a message together, and no id is ahead of what was sent", async () => {
  await fc.assert(
    fc.asyncProperty(actions, async (all) => {
      const { positions, events, merged, next } = openBoth();
      const made = { positions: 0, events: 0 };
      const sent = { positions: 0, events: 0 };
      let waiting = 0;
      const read = async () => {
        const text = (await next())!;
        waiting--;
        const of = text.includes("p") ? "positions" : "events";
        if (!merged.isWithinEvent) sent[of]++;
        const id = /^id: (\d+)-(\d+)$/m.exec(text);
        // The id of an event in parts is that of its end.
        const ahead = { ...sent, ...(merged.isWithinEvent ? { positions: sent.positions + 1 } : {}) };
        if (id !== null) expect([Number(id[1]), Number(id[2])]).toEqual([ahead.positions, ahead.events]);
      };
      for (const action of all) {
        if (action === "read") {
          if (waiting > 0) await read();
        } else {
          const viewer = action.of === "positions" ? positions : events;
          const place = ++made[action.of];
          for (let part = 1; part <= action.parts; part++) {
            const isLast = part === action.parts;
            const head = part === 1 ? `event: removed\ndata: x\n\nid: ${place}\n` : "";
            viewer.tell(`${head}${action.of[0]}${part}`, !isLast, place);
            waiting++;
          }
        }
        await turns(1);
      }
      while (waiting > 0) await read();
      expect(sent).toEqual(made);
      expect(merged.sentId).toBe(`${made.positions}-${made.events}`);
      merged.close();
    }),
  );
});

test("both viewers end if one fails or the merged viewer is closed", async () => {
  const failing = openBoth();
  const failure = rejection(failing.next());
  failing.events.fail(new Error("the disk fails"));
  expect(await failure).toMatchObject({ message: "the disk fails" });
  expect([failing.positions.isClosed, failing.events.isClosed]).toEqual([true, true]);
  const closed = openBoth();
  const waiting = closed.next();
  closed.merged.close();
  expect(await waiting).toBeNull();
});
