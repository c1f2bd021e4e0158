import type { PositionIndex } from "../../../src/spatial/position-index.ts";

export interface Position {
  readonly device: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly timestampMs: number;
  readonly accuracyMeters: number;
}

/** Loads positions into an empty index. */
export function loadPositions(index: PositionIndex, positions: readonly Position[]): void {
  const rising = positions.toSorted((a, b) => a.device - b.device);
  const numbersEnd = (rising.at(-1)?.device ?? -1) + 1;
  const column = (numberOf: (position: Position) => number) => {
    const values = new Float64Array(numbersEnd);
    for (const position of rising) values[position.device] = numberOf(position);
    return values;
  };
  const steps = index.load({
    devices: Uint32Array.from(rising, ({ device }) => device),
    count: rising.length,
    latitude: column(({ latitude }) => latitude),
    longitude: column(({ longitude }) => longitude),
    timesMs: column(({ timestampMs }) => timestampMs),
    accuracies: column(({ accuracyMeters }) => accuracyMeters),
  });
  for (const _ of steps);
}
