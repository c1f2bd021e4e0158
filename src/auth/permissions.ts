/** What a key may do: ask (`read`), report (`write`), or look at the service itself, `/metrics` (`operate`). */
export type Permission = "read" | "write" | "operate";

export const PERMISSIONS: readonly Permission[] = ["read", "write", "operate"];

export function parsePermission(text: string): Permission | null {
  return PERMISSIONS.find((permission) => permission === text) ?? null;
}
