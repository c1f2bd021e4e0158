/*
 * MQTT lets a broker send 256 MiB at once, and the library's parser collects a packet before anybody sees it. Here the
 * bytes of a connection go by before that, and a PUBLISH that is too long loses its end:
 *
 *   type and flags | remaining length, 1 to 4 bytes of 7 bits | topic, message id, payload
 *
 * What is left has a length that fits it, so the message can be kept as unreadable, and acknowledged.
 */

/** Of a packet, without its first bytes: as much as a request may bring. */
export const PACKET_BYTES_MAX = 16 * 1024 * 1024;

/** Of one that is longer: the topic, which has at most 64 KiB, and as much of the payload as the quarantine keeps. */
const CUT_PACKET_BYTES = 2 * 64 * 1024;

const PUBLISH = 3;
const LENGTH_BYTES_MAX = 4;

/** Cuts the packets of one connection, whose bytes come in any pieces. */
export class PacketCutter {
  /** First bytes of a packet whose length is not known yet. */
  #head: number[] = [];
  /** Of the packet under way, still to come. */
  #passingBytes = 0;
  #droppingBytes = 0;

  /** What is left of the next bytes of the connection. */
  cut(bytes: Uint8Array): Uint8Array[] {
    const left: Uint8Array[] = [];
    let start = 0; // Of what goes on as it is.
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
        if (!isSplit && this.#droppingBytes === 0) continue; // It goes on with what is around it.
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

  /** Sets out on the packet of the head that is whole; the result is the head it has from here on. */
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

/** Seven bits a byte, the lowest first; the highest bit says that another one follows. */
function lengthDigits(length: number): number[] {
  const digits: number[] = [];
  for (let rest = length; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...digits, rest];
    digits.push((rest % 128) | 0x80);
  }
}
