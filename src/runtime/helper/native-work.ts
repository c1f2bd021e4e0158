import process from "node:process";
import type { NativeWork } from "./helper.ts";

/** Of this process. */
export function nativeWork(): NativeWork {
  const all = process.cpuUsage();
  const script = process.threadCpuUsage();
  const { fsRead, fsWrite } = process.resourceUsage();
  return {
    cpuMs: (all.user + all.system - script.user - script.system) / 1000,
    diskBlocks: fsRead + fsWrite,
  };
}
