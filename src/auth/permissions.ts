/**
 * What a key may do: ask (`read`), report (`write`), look at the service itself, `/metrics`, and copy all of a node to
 * another (`operate`), or ask about what a share link shows (`view`), which goes with no other.
 */
export type Permission = "read" | "write" | "operate" | "view";

export const PERMISSIONS: readonly Permission[] = ["read", "write", "operate", "view"];

export function parsePermission(text: string): Permission | null {
  return PERMISSIONS.find((permission) => permission === text) ?? null;
}
