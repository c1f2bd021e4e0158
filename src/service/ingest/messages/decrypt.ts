import type { PassPhrases } from "../../../auth/pass-phrases.ts";
import type { ClientMessage } from "../../../clients/client.ts";
import { type Address, BROKER_KEY_ID, type Sender } from "../../../clients/identity.ts";
import { openBox } from "../../../clients/owntracks/encryption.ts";

/** Opens what a sender's devices encrypt, as far as the operator told their pass phrases. */
export function decryptOf(
  passPhrases: Pick<PassPhrases, "boxKeys">,
  { appId, keyId, deviceId }: Pick<Sender, "appId" | "keyId" | "deviceId">,
  address: Address,
): ClientMessage["decrypt"] {
  const known = deviceId ?? address.device;
  return function* decrypt(claimed, box) {
    const encrypter = { appId, keyId: keyId === BROKER_KEY_ID ? null : keyId, deviceId: known ?? claimed };
    for (const boxKey of passPhrases.boxKeys(encrypter)) {
      const opened = yield* openBox(boxKey, box);
      if (opened !== null) return opened;
      yield;
    }
    return null;
  };
}
