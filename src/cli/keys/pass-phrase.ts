import {
  PASS_PHRASE_CHARACTERS_MAX,
  type PassPhraseError,
  PassPhrases,
  parsePassPhrase,
  SAME_NAME_MAX,
} from "../../auth/pass-phrases.ts";
import { directoryPaths } from "../../directory/paths.ts";
import { onSharedFiles } from "../cluster/node-directory.ts";
import { expectDataDirectory } from "../directory/data-directory.ts";
import { refuse } from "../screen/layout.ts";
import type { KeysPassPhraseOptions } from "./command.ts";
import { describeKeyError, openKeys } from "./keys.ts";

/** Sets or removes the passphrase of a key's devices. */
export const setPassPhrase = onSharedFiles<KeysPassPhraseOptions>(
  async ({ dataDir, id, deviceId, remove }, { platform, clock, terminal }) => {
    const { files, acquireLock, pid, shared = null } = platform;
    await expectDataDirectory(files, dataDir);
    const process = { pid, command: "keys passphrase" };
    const path = directoryPaths(dataDir).passPhrases;
    const passPhrases = await PassPhrases.open({ files, path, clock, acquireLock, process, shared });
    const of = deviceId === null ? "any device" : `device "${deviceId}"`;
    if (remove) {
      const removed = await passPhrases.remove({ keyId: id, deviceId });
      if (!removed.ok) return refuse(describe(removed.error), terminal);
      terminal.error(`Removed the passphrase of key ${id} for ${of}.\n`);
      return 0;
    }
    const keys = await openKeys("keys passphrase", dataDir, platform, clock);
    const key = keys.list().find((each) => each.id === id);
    if (key === undefined) return refuse(describeKeyError({ kind: "key_not_found", id }), terminal);

    const line = await platform.readSecretLine(
      () => terminal.error(`Passphrase of ${of} of key ${id} (not shown): `),
      () => terminal.error("\n"),
    );
    const text = line === null ? null : parsePassPhrase(line);
    if (text === null) return refuse(UNUSABLE, terminal);
    const set = await passPhrases.set({ keyId: id, appId: key.appId, deviceId, text });
    if (!set.ok) return refuse(describe(set.error), terminal);
    terminal.error(`Messages of ${of} of key ${id} are now decrypted with this passphrase.\n`);
    return 0;
  },
);

const UNUSABLE = `A passphrase is one line of 1 to ${PASS_PHRASE_CHARACTERS_MAX} characters; none was set.`;

function describe(error: PassPhraseError): string {
  switch (error.kind) {
    case "pass_phrase_not_found": {
      const of =
        error.deviceId === null ? "all its devices; name one with --device" : `device "${error.deviceId}"`;
      return `Key "${error.keyId}" has no passphrase for ${of}.`;
    }
    case "too_many_pass_phrases":
      return error.deviceId === null
        ? `App ${error.appId} has ${SAME_NAME_MAX} passphrases for any device: name a device with --device.`
        : `App ${error.appId} has ${SAME_NAME_MAX} passphrases for a device "${error.deviceId}": remove one.`;
    default:
      return describeKeyError(error);
  }
}
