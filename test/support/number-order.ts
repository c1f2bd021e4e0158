import type { DeviceOrder } from "../../src/spatial/positions.ts";

const BLOCK_DEVICES = 256;

/** Orders devices by number; numbers are below `devices`. */
export function numberOrder(devices: number): DeviceOrder {
  return listedOrder(
    Array.from({ length: devices }, (_, device) => device),
    (a, b) => a - b,
  );
}

/** Orders devices as listed, which must agree with `compare`. */
export function listedOrder(devices: readonly number[], compare: DeviceOrder["compare"]): DeviceOrder {
  const blocks: { readonly numbers: readonly number[] }[] = [];
  for (let start = 0; start < devices.length; start += BLOCK_DEVICES)
    blocks.push({ numbers: devices.slice(start, start + BLOCK_DEVICES) });
  return {
    compare,
    isReady: () => true,
    reader: () => {
      let block = 0;
      return () => blocks[block++] ?? null;
    },
  };
}
