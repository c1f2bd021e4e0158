/** The order of an app's devices in answers, by device number. */
export interface DeviceOrder {
  compare(a: number, b: number): number;
  /** Whether `visit` begins at once; asked in vain, it soon will. */
  isReady(): boolean;
  /** Shows all devices, the first first, until `show` says no. */
  visit(show: (device: number) => boolean): void;
}
