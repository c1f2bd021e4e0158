import { storedId } from "../../clients/identity.ts";
import { deviceNameOf } from "../../formats/device-file-name.ts";

/** Of files that hold another one, or say how they are packed. */
const PACKING = /\.(?:gz|zst|zip|kmz)$/i;
const EXTENSION = /\.[a-z0-9]{1,12}$/i;

/** What a file that names no device is called after: its own name, `ride` of `ride.gpx.gz`, as `export` writes it. */
export function baseName(fileName: string): string {
  return deviceNameOf(fileName.replace(PACKING, "").replace(EXTENSION, ""));
}

/** Names as ids, remembering the last: most points of a file are of one device. */
export class NamesAsIds {
  #name = "";
  #id: string | null = null;

  /** Null where the name can't be one. */
  idOf(name: string): string | null {
    if (name !== this.#name) {
      this.#name = name;
      this.#id = storedId(name);
    }
    return this.#id;
  }
}
