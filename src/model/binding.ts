/** Whom a key writes as. Its reports name what is null themselves. */
export interface Binding {
  readonly deviceId: string | null;
  readonly userId: string | null;
}

/** Reports as whomever they name. */
export const UNBOUND: Binding = { deviceId: null, userId: null };
