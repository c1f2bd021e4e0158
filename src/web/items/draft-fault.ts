/** An error of the server, beside the member of the form that it names. */
export interface DraftFault {
  /** Null if it names none that the form has. */
  readonly member: string | null;
  readonly text: string;
}

/**
 * Finds the member that an error names: `speed_above must be a number, 0 to 1,000` is about the speed. The path of a
 * member begins with the prefix.
 */
export function draftFault(message: string, members: readonly string[], prefix = ""): DraftFault {
  const isOfMember = message.startsWith(prefix);
  const [member = ""] = (isOfMember && /^\w+/.exec(message.slice(prefix.length))) || [];
  if (!members.includes(member)) return { member: null, text: faultSentence(message) };
  return { member, text: `${message.slice(prefix.length).replace(/\.$/, "")}.` };
}

export function faultSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, "")}.`;
}
