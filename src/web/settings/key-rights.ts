import type { SessionFacts } from "../session/session.ts";

/* What the signed-in key may do on the page, and how to create one that may do more. */

type KeyFacts = Pick<SessionFacts, "app_id" | "permissions">;

/** Something that a key may do, or lacks the permission for. */
export interface KeyRight {
  readonly permission: "read" | "write" | "edit" | "manage";
  readonly what: string;
  readonly isGranted: boolean;
}

const RIGHTS: readonly Omit<KeyRight, "isGranted">[] = [
  { permission: "read", what: "see devices and their history, and share them" },
  { permission: "write", what: "connect phones and add positions" },
  { permission: "edit", what: "give devices names, colors and icons, and correct positions" },
  { permission: "manage", what: "make and change geofences, alerts and webhooks" },
];

export function keyRights({ permissions }: KeyFacts): readonly KeyRight[] {
  return RIGHTS.map((right) => ({ ...right, isGranted: permissions.includes(right.permission) }));
}

/** The command that creates a key for everything on the page; null if this key is one. */
export function fullKeyCommand(facts: KeyFacts): string | null {
  const rights = keyRights(facts);
  if (rights.every(({ isGranted }) => isGranted)) return null;
  const flags = rights.map(({ permission }) => `--permission ${permission}`);
  return `npm run --silent cli -- keys create --app ${facts.app_id} ${flags.join(" ")}`;
}
