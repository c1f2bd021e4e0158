/** What the build puts into the executable (executable.ts). */
declare module "wherehouse:embedded" {
  /** A native library: where it is inside of the executable, packed by zstd, and its SHA-256, hexadecimal. */
  export interface EmbeddedLibrary {
    readonly name: string;
    readonly packed: string;
    readonly sha256: string;
  }
  export const libraries: readonly EmbeddedLibrary[];
  /** The SHA-256 of all libraries together. */
  export const librariesHash: string;
}
