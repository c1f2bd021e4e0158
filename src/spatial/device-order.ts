/** The order of an app's devices in answers, by device number. */
export interface DeviceOrder {
  compare(a: number, b: number): number;
  /** Whether `reader` reads at once. */
  isReady(): boolean;
  /** Gives all devices in order, a block with each call, and null behind the last. */
  reader(): () => { readonly numbers: readonly number[] } | null;
}
