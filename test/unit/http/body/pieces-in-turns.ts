import { Buffer } from "node:buffer";
import { zstdCompressSync } from "node:zlib";
import { BodyUnpacker } from "../../../../src/http/body/body-unpacker.ts";
import { systemTimers } from "../../../../src/lib/schedule/timers.ts";

export const BODIES = 4;
export const FRAMES = 999;

export interface PiecesInTurns {
  /** How many pieces were made at most in one turn of the event loop. */
  readonly most: number;
  readonly pieces: number;
  /** Whether a timer that was due all along fired before the last piece was made. */
  readonly hasTimerFired: boolean;
}

/** Unpacks zstd bodies of many frames beside each other, on any runtime. */
export async function unpackInTurns(): Promise<PiecesInTurns> {
  const unpacker = new BodyUnpacker();
  const frame = zstdCompressSync(Buffer.alloc(16_384, " "));
  const packed = Buffer.concat(Array.from({ length: FRAMES }, () => frame));
  let hasTimerFired = false;
  let [pieces, inTurn, most] = [0, 0, 0];
  const stopTimer = systemTimers.after(0, () => {
    hasTimerFired = true;
  });
  let turn = setImmediate(onTurn);
  await Promise.all(
    Array.from({ length: BODIES }, (_, index) =>
      unpacker.unpack(packed, "zstd", `app ${index}`, async (text) => {
        for await (const _ of text) {
          pieces++;
          most = Math.max(most, ++inTurn);
        }
      }),
    ),
  );
  clearImmediate(turn);
  stopTimer();
  return { most, pieces, hasTimerFired };

  function onTurn(): void {
    inTurn = 0;
    turn = setImmediate(onTurn);
  }
}
