import type { DeviceOrder } from "../../src/spatial/device-order.ts";

/** Devices in order of their numbers, which are below `devices`. */
export function numberOrder(devices: number): DeviceOrder {
  return {
    compare: (a, b) => a - b,
    isReady: () => true,
    visit: (show) => {
      for (let device = 0; device < devices; device++) if (!show(device)) return;
    },
  };
}
