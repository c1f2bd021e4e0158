import type { DeviceId } from "../../model/ids.ts";
import { Device } from "./device.ts";

/** An app's devices by id and by number. The number of a device that is gone is given to another. */
export class DeviceTable {
  readonly #byId = new Map<string, Device>();
  readonly #byNumber: (Device | undefined)[] = [];
  /** Of devices that are gone. */
  readonly #freeNumbers: number[] = [];

  get count(): number {
    return this.#byId.size;
  }

  /** Numbers in use are below this. */
  get numbersEnd(): number {
    return this.#byNumber.length;
  }

  find(id: string): Device | null {
    return this.#byId.get(id) ?? null;
  }

  /** Null where the number is nobody's any more. */
  findByNumber(number: number): Device | null {
    return this.#byNumber[number] ?? null;
  }

  /** The device of a number that is in use. */
  byNumber(number: number): Device {
    return this.#byNumber[number]!;
  }

  /** Adds a device that is not there yet. */
  add(id: DeviceId): Device {
    const device = new Device(id, this.#freeNumbers.pop() ?? this.#byNumber.length);
    this.#byId.set(id, device);
    this.#byNumber[device.number] = device;
    return device;
  }

  remove({ id, number }: Device): void {
    this.#byId.delete(id);
    this.#byNumber[number] = undefined;
    this.#freeNumbers.push(number);
  }
}
