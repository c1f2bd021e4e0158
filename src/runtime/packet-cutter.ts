/*
 * MQTT allows messages of 256 MiB, and the library's parser collects a whole packet before we see it. The
 * cutter sees the bytes of a connection first, and shortens a PUBLISH that is too long:
 *
 *   type and flags | remaining length, 1 to 4 bytes of 7 bits | topic, message id, payload
 *
 * The shortened packet has a matching length, so it can be quarantined as unreadable and acknowledged.
 */

/** The largest packet that passes whole, without its head: as large as a request body may be. */
export const PACKET_BYTES_MAX = 16 * 1024 * 1024;

/** What is left of a longer packet: the topic (at most 64 KiB) and what the quarantine stores of the payload. */
const CUT_PACKET_BYTES = 2 * 64 * 1024;

const PUBLISH = 3;
const LENGTH_BYTES_MAX = 4;

/** Cuts the packets of one connection, which arrive in arbitrary chunks. */
export class PacketCutter {
  /** The first bytes of a packet whose length is incomplete. */
  #head: number[] = [];
  /** Remaining bytes of the current packet, to pass on and to drop. */
  #passingBytes = 0;
  #droppingBytes = 0;

  /** Returns the bytes of the chunk that are passed on. */
  cut(bytes: Uint8Array): Uint8Array[] {
    const left: Uint8Array[] = [];
    let start = 0; // Of the range that passes unchanged.
    let at = 0;
    const passUpTo = (end: number) => {
      if (end > start) left.push(bytes.subarray(start, end));
      start = at;
    };
    while (at < bytes.length) {
      if (this.#passingBytes > 0) {
        const passed = Math.min(this.#passingBytes, bytes.length - at);
        this.#passingBytes -= passed;
        at += passed;
      } else if (this.#droppingBytes > 0) {
        const end = at;
        const dropped = Math.min(this.#droppingBytes, bytes.length - at);
        this.#droppingBytes -= dropped;
        at += dropped;
        passUpTo(end);
      } else {
        const end = at;
        const isSplit = this.#head.length > 0;
        while (at < bytes.length && !this.#isHeadWhole()) this.#head.push(bytes[at++]!);
        if (!this.#isHeadWhole()) {
          passUpTo(end);
          break;
        }
        const head = this.#beginPacket();
        if (!isSplit && this.#droppingBytes === 0) continue; // The head passes with its neighbours.
        passUpTo(end);
        left.push(head);
      }
    }
    passUpTo(at);
    return left;
  }

  #isHeadWhole(): boolean {
    const lengthBytes = this.#head.length - 1;
    return lengthBytes > 0 && (this.#head[lengthBytes]! < 0x80 || lengthBytes === LENGTH_BYTES_MAX);
  }

  /** Starts the packet of the complete head. Returns the head that is passed on. */
  #beginPacket(): Uint8Array {
    const [type, ...digits] = this.#head as [number, ...number[]];
    this.#head = [];
    const length = digits.reduce((sum, digit, index) => sum + (digit & 0x7f) * 128 ** index, 0);
    const isTooLong = type >> 4 === PUBLISH && length > PACKET_BYTES_MAX;
    this.#passingBytes = isTooLong ? CUT_PACKET_BYTES : length;
    this.#droppingBytes = length - this.#passingBytes;
    return Uint8Array.from([type, ...(isTooLong ? lengthDigits(CUT_PACKET_BYTES) : digits)]);
  }
}

/** Seven bits a byte, the lowest first; the highest bit is set if another byte follows. */
function lengthDigits(length: number): number[] {
  const digits: number[] = [];
  for (let rest = length; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...digits, rest];
    digits.push((rest % 128) | 0x80);
  }
}
