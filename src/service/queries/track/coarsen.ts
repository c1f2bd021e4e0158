import type { Steps } from "../../../lib/schedule/steps.ts";
import { squaredChord } from "../../../model/geo/unit-vectors.ts";
import { Piece } from "./piece.ts";
import { Vertices } from "./vertices.ts";

/**
 * The same lines with fewer vertices, none of those that go further than a chord from what stays. Ends of lines stay,
 * but where there would be too many of those by themselves: then lines go of which all is that near to the vertex that
 * stays before them. The first and the last vertex always stay.
 */
export function* coarsen(lines: Vertices, chord: number, verticesMax: number): Steps<Vertices> {
  const { starts } = lines;
  const isCrowded = 2 * starts.length > verticesMax;
  const coarser = new Vertices();
  const piece = new Piece();
  let work = 0;
  for (let line = 0; line < starts.length; line++) {
    const from = starts[line]!;
    const isLast = line === starts.length - 1;
    const to = isLast ? lines.count : starts[line + 1]!;
    if (isCrowded && line > 0 && !isLast && isNear(lines, from, to, coarser, chord)) continue;
    coarser.startLine();
    for (let row = from; row < to; row++) {
      piece.add(lines, row);
      if (!piece.isFull) continue;
      piece.settle(chord, coarser);
      yield;
    }
    work += piece.count;
    piece.close(chord, coarser);
    if (work < STEP_VERTICES) continue;
    work = 0;
    yield;
  }
  return coarser;
}

const STEP_VERTICES = 1024;

/** Whether all of a line lies around the last vertex that stayed. */
function isNear(lines: Vertices, from: number, to: number, coarser: Vertices, chord: number): boolean {
  for (let row = from; row < to; row++)
    if (squaredChord(lines.vectors, row, coarser.vectors, coarser.count - 1) > chord * chord) return false;
  return true;
}
