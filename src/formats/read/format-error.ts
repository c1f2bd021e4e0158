/** The rest of a file can't be read; what came before it was good. The message is for people and has no full stop. */
export class FormatError extends Error {
  override readonly name: string = "FormatError";
}

/** A file can't be read rightly before its operator says more, so an import ends at it and names the option. */
export class OptionNeededError extends FormatError {
  override readonly name: string = "OptionNeededError";
}

/** A file has times without zone, and nobody said which one they are in: nothing of it may be read by guessing. */
export class ZoneNeededError extends OptionNeededError {
  override readonly name = "ZoneNeededError";
  constructor(time: string) {
    super(`"${time}" has no time zone: say which one it is in, as with --timezone Europe/Berlin`);
  }
}

/** The header of a table doesn't tell what is where, or not what the operator said of it. */
export class HeaderError extends OptionNeededError {
  override readonly name = "HeaderError";
}
