/** True in the executable, whose build replaces the name; there is none where the program runs from its sources. */
declare const WHEREHOUSE_EXECUTABLE: true | undefined;

/** Whether this program is one executable file, with all that it needs inside. */
export const isExecutable = typeof WHEREHOUSE_EXECUTABLE !== "undefined";

/** With this word the executable starts itself as a helper process. The helper's script and the parent's id follow. */
export const HELPER_WORD = "helper";

/** Whether a path names a file inside of the executable. Such a file can be read as a whole, but not opened. */
export function isInside(path: string): boolean {
  return isExecutable && path.startsWith("/$bunfs/");
}

let unpack = async (): Promise<void> => undefined;

/** Sets how native libraries get out of the executable, which the system can't load from inside. */
export function setUnpack(unpackLibraries: () => Promise<void>): void {
  unpack = unpackLibraries;
}

/** To be awaited before a native library is loaded. Throws a `FileError` if it can't be written. */
export function unpackLibraries(): Promise<void> {
  return unpack();
}
