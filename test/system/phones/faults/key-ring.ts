import { createKeyText } from "../../../../src/auth/api-key.ts";
import type { Permission } from "../../../../src/auth/key-file.ts";
import { openKeyStore } from "../../../../src/auth/key-store.ts";
import type { TierName } from "../../../../src/auth/tiers.ts";
import { directoryPaths } from "../../../../src/directory/paths.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import { systemClock } from "../../../../src/model/time/clock.ts";
import { FileError } from "../../../../src/runtime/files.ts";
import { createPlatform } from "../../../../src/runtime/platform.ts";
import { until } from "../../../support/until.ts";
import type { Phone } from "../phone/phone.ts";

/** The keys of a run: made and revoked beside the server, as `keys create` and `keys revoke` do it. */
export interface KeyRing {
  /** The texts of all, those that were revoked and those that nobody made too. */
  readonly texts: ReadonlySet<string>;
  /** One that is in no phone, once the server knows it. */
  create(appId: string, permission: Permission): Promise<KeyPair>;
  /** Types a new key into a phone, once the server knows it. */
  giveGood(phone: Phone): Promise<void>;
  /** Types a key that nobody made. */
  giveWrong(phone: Phone): void;
  /** Types the last good one once more. */
  giveBack(phone: Phone): void;
  /** Revokes the key that a phone has. */
  revoke(phone: Phone): Promise<void>;
}

export interface KeyPair {
  readonly id: string;
  readonly text: string;
}

export interface KeyRingOptions {
  readonly dataDir: string;
  /** How fast a phone may report. */
  readonly tierOf: (phone: Phone) => TierName;
  /** Whether the server that runs now takes a key; true before one runs. */
  readonly isKnown: (key: string) => Promise<boolean>;
}

export async function openKeyRing({ dataDir, tierOf, isKnown }: KeyRingOptions): Promise<KeyRing> {
  const { files, acquireLock, pid } = createPlatform();
  const { keys: path } = directoryPaths(dataDir);
  const process = { pid, command: "keys create" };
  const store = await openKeyStore({ files, path, clock: systemClock, acquireLock, process });
  const texts = new Set<string>();
  const lastGood = new Map<Phone, KeyPair>();

  async function create(appId: string, permission: Permission, tier: TierName, deviceId: string | null) {
    const spec = {
      appId: appId as AppId,
      permissions: [permission],
      view: null,
      tier,
      label: "",
      deviceId,
      userId: null,
      expiresMs: null,
    };
    const created = await untilThereIsRoom(() => store.create(spec));
    if (!created.ok) throw new Error(`No key could be made: ${created.error.kind}`);
    const { key, text } = created.value;
    texts.add(text);
    await until(() => isKnown(text));
    return { id: key.id, text };
  }

  return {
    texts,
    create: (appId, permission) => create(appId, permission, "unlimited", null),
    async giveGood(phone) {
      const key = await create(phone.appId, "write", tierOf(phone), phone.boundTo);
      lastGood.set(phone, key);
      phone.typeKey(key.text, key.id);
    },
    giveWrong(phone) {
      const text = createKeyText();
      texts.add(text);
      phone.typeKey(text, null);
    },
    giveBack(phone) {
      const { id, text } = lastGood.get(phone)!;
      phone.typeKey(text, id);
    },
    async revoke(phone) {
      phone.distrustKey();
      const revoked = await untilThereIsRoom(() => store.revoke(lastGood.get(phone)!.id));
      if (!revoked.ok) throw new Error(`A key could not be revoked: ${revoked.error.kind}`);
    },
  };
}

/** The keys lie on the disk that may be full just now. */
async function untilThereIsRoom<Value>(change: () => Promise<Value>): Promise<Value> {
  const changed: Value[] = [];
  await until(async () => {
    try {
      return changed.push(await change()) > 0;
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      return false;
    }
  });
  return changed[0]!;
}
