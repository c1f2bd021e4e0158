/** What the system's error codes say, for messages that people read. */
const MEANINGS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EAGAIN: "not possible just now",
  EBUSY: "it is in use",
  EDQUOT: "the disk quota is used up",
  EEXIST: "it is there already",
  EFBIG: "the file would be larger than the system allows",
  EINTR: "a signal interrupted it",
  EIO: "the disk failed",
  EISDIR: "it is a directory",
  ELOOP: "its symbolic links lead in a circle",
  EMFILE: "this process has too many files open",
  ENAMETOOLONG: "the name is too long",
  ENFILE: "the system has too many files open",
  ENOENT: "no such file or directory",
  ENOMEM: "the system is out of memory",
  ENOSPC: "the disk is full",
  ENOTDIR: "it is no directory, or lies in none",
  ENOTEMPTY: "the directory is not empty",
  EPERM: "the system does not permit it",
  EROFS: "the disk is read-only",
  ETXTBSY: "it is a program that runs",
  EXDEV: "the two lie on different file systems",
};

/** `no such file or directory (ENOENT)`; a code without a meaning of ours stands alone. */
export function describeCode(code: string): string {
  const meaning = Object.hasOwn(MEANINGS, code) ? MEANINGS[code] : undefined;
  return meaning === undefined ? code : `${meaning} (${code})`;
}
