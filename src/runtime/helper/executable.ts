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

/** The native libraries in the executable, which the system can't load from inside. All throw a `FileError`. */
export interface NativeLibraries {
  /** Finds out without writing them whether they can be loaded later. */
  check(): Promise<void>;
  /** To be awaited before one is loaded. */
  unpack(): Promise<void>;
}

/** Where the program runs from its sources, they lie on the disk already. */
let libraries: NativeLibraries = { check: async () => undefined, unpack: async () => undefined };

export function setNativeLibraries(own: NativeLibraries): void {
  libraries = own;
}

export function nativeLibraries(): NativeLibraries {
  return libraries;
}
