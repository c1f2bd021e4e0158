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

/** Says what devices of a key encrypt with, or that they no longer do. */
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
      terminal.error(`Key ${id} has no pass phrase for ${of} any more.\n`);
      return 0;
    }
    const keys = await openKeys("keys passphrase", dataDir, platform, clock);
    const key = keys.list().find((found) => found.id === id);
    if (key === undefined) return refuse(describeKeyError({ kind: "key_not_found", id }), terminal);

    const line = await platform.readSecretLine(
      () => terminal.error(`Pass phrase of ${of} of key ${id} (not shown): `),
      () => terminal.error("\n"),
    );
    const text = line === null ? null : parsePassPhrase(line);
    if (text === null) return refuse(UNUSABLE, terminal);
    const set = await passPhrases.set({ keyId: id, appId: key.appId, deviceId, text });
    if (!set.ok) return refuse(describe(set.error), terminal);
    terminal.error(`What ${of} of key ${id} encrypts is opened with this pass phrase from now on.\n`);
    return 0;
  },
);

const UNUSABLE = `A pass phrase is one line of 1 to ${PASS_PHRASE_CHARACTERS_MAX} characters; none was set.`;

function describe(error: PassPhraseError): string {
  switch (error.kind) {
    case "pass_phrase_not_found": {
      const of =
        error.deviceId === null ? "all its devices: --device says which" : `device "${error.deviceId}"`;
      return `Key "${error.keyId}" has no pass phrase for ${of}.`;
    }
    case "too_many_pass_phrases":
      return error.deviceId === null
        ? `App ${error.appId} has ${SAME_NAME_MAX} pass phrases that are for any device: say which with --device.`
        : `App ${error.appId} has ${SAME_NAME_MAX} pass phrases for a device "${error.deviceId}": remove one.`;
    default:
      return describeKeyError(error);
  }
}
