/** The anchor of a heading, the same as on GitHub, so that one link works in both places. Also for VitePress. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}
