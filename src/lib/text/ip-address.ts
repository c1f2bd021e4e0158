/* Addresses of the internet protocol, and blocks of them. */

/** 4 or 16 bytes. */
export type IpAddress = readonly number[];

/** All addresses that begin with these bits. */
export interface IpBlock {
  readonly address: IpAddress;
  readonly bits: number;
}

/** Null if the text is no address. The zone of an IPv6 address ("%eth0") is left out. */
export function parseIpAddress(text: string): IpAddress | null {
  return text.includes(":") ? parseIpv6(text.split("%", 1)[0]!) : parseIpv4(text);
}

function parseIpv4(text: string): IpAddress | null {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9][0-9]{0,2})$/.test(part))) return null;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte < 256) ? bytes : null;
}

function parseIpv6(text: string): IpAddress | null {
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const [head, tail] = halves.map((half, index) =>
    half === "" ? [] : groupsOf(half.split(":"), index === halves.length - 1),
  );
  if (head == null || tail === null) return null;
  if (tail === undefined) return head.length === 16 ? head : null;
  const zeros = 16 - head.length - tail.length;
  return zeros < 2 ? null : [...head, ...new Array<number>(zeros).fill(0), ...tail];
}

/** The bytes of 16-bit groups. The last of an address may be an IPv4 address. */
function groupsOf(groups: readonly string[], isLast: boolean): number[] | null {
  const bytes: number[] = [];
  for (const [index, group] of groups.entries()) {
    const ipv4 = isLast && index === groups.length - 1 ? parseIpv4(group) : null;
    if (ipv4 !== null) bytes.push(...ipv4);
    else if (/^[0-9a-fA-F]{1,4}$/.test(group)) {
      const number = Number.parseInt(group, 16);
      bytes.push(number >> 8, number & 255);
    } else return null;
  }
  return bytes;
}

/** "10.0.0.0/8", or one address. Null if it is neither. */
export function parseIpBlock(text: string): IpBlock | null {
  const [head, bitsText, ...rest] = text.split("/");
  const address = parseIpAddress(head!);
  if (address === null || rest.length > 0) return null;
  if (bitsText === undefined) return { address, bits: 8 * address.length };
  if (!/^[0-9]{1,3}$/.test(bitsText) || Number(bitsText) > 8 * address.length) return null;
  return { address, bits: Number(bitsText) };
}

export function isInBlock(address: IpAddress, block: IpBlock): boolean {
  if (address.length !== block.address.length) return false;
  for (let bit = 0; bit < block.bits; bit += 8) {
    const mask = 255 & (0xff00 >> Math.min(8, block.bits - bit));
    if ((address[bit / 8]! & mask) !== (block.address[bit / 8]! & mask)) return false;
  }
  return true;
}
