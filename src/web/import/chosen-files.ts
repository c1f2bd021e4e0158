/* The files that the user drops on the page or chooses. */

/** A file, or a folder. */
export interface ChosenFile {
  readonly name: string;
  readonly size: number;
  readonly isFolder: boolean;
}

/** A file that waits for its import, with its content. */
export interface QueuedFile extends ChosenFile {
  readonly content: Blob;
}

/** The used part of a `DataTransfer`. */
interface Dropped {
  readonly files: ArrayLike<File>;
  readonly items: ArrayLike<Pick<DataTransferItem, "kind" | "webkitGetAsEntry">>;
}

/** The files of an input. */
export function filesOf(files: ArrayLike<File>): readonly QueuedFile[] {
  return Array.from(files, (file) => ({ name: file.name, size: file.size, isFolder: false, content: file }));
}

/** A folder looks like a file without content. */
export function droppedFiles({ files, items }: Dropped): readonly QueuedFile[] {
  const ofFiles = Array.from(items).filter(({ kind }) => kind === "file");
  const areFolders = ofFiles.map((item) => item.webkitGetAsEntry()?.isDirectory ?? false);
  return filesOf(files).map((file, index) => ({ ...file, isFolder: areFolders[index] ?? false }));
}
