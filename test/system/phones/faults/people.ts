import { pause } from "../../support/pause.ts";
import type { Picker } from "../../support/random.ts";
import type { Phone } from "../phone/phone.ts";
import type { KeyRing } from "./key-ring.ts";

/** What people do to phones: keys are mistyped and revoked, phones are switched off and on. */
export interface People {
  readonly phones: readonly Phone[];
  readonly keys: KeyRing;
  readonly pick: Picker;
  /** How long they leave phones alone at most. */
  readonly restMsMax: number;
}

const WRONG_MS_MAX = 2500;
const OFF_MS_MAX = 800;
const PHONES_A_PERSON = 6;

/** Until this moment of the run, a few phones at a time; then all keys are right and all phones on. */
export async function annoyPhones(
  { phones, keys, pick, restMsMax }: People,
  isOver: () => boolean,
): Promise<void> {
  let left: Phone[] = [];
  const busy = new Set<Phone>();

  function nextPhone(): Phone {
    left = left.length === 0 ? [...phones] : left;
    const free = left.filter((phone) => !busy.has(phone));
    const phone = pick.item(free.length === 0 ? phones.filter((other) => !busy.has(other)) : free);
    left = left.filter((other) => other !== phone);
    return phone;
  }

  async function annoyOn(): Promise<void> {
    while (!isOver()) {
      const phone = nextPhone();
      busy.add(phone);
      await pick.item([revokeKey, mistypeKey, reboot])(phone);
      busy.delete(phone);
      await pause(pick.integer(0, restMsMax));
    }
  }

  async function revokeKey(phone: Phone): Promise<void> {
    await keys.revoke(phone);
    await pause(pick.integer(300, WRONG_MS_MAX));
    await keys.giveGood(phone);
  }

  async function mistypeKey(phone: Phone): Promise<void> {
    keys.giveWrong(phone);
    await pause(pick.integer(300, WRONG_MS_MAX));
    keys.giveBack(phone);
  }

  async function reboot(phone: Phone): Promise<void> {
    await phone.switchOff();
    await pause(pick.integer(50, OFF_MS_MAX));
    phone.switchOn();
  }

  await Promise.all(Array.from({ length: Math.ceil(phones.length / PHONES_A_PERSON) }, annoyOn));
}
