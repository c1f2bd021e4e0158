/** The device and user that a key writes as. If one is null, each report names its own. */
export interface Binding {
  readonly deviceId: string | null;
  readonly userId: string | null;
}

export const UNBOUND: Binding = { deviceId: null, userId: null };
