/*
 * Topic filters of MQTT: levels between slashes, `+` for any one level, `#` at the end for all that follow.
 */

const FILTER_BYTES_MAX = 65_535;

/** Whether a broker would take it. Topics that begin with a dollar are the broker's own. */
export function isTopicFilter(text: string): boolean {
  if (text === "" || text.startsWith("$") || text.includes("\0")) return false;
  if (new TextEncoder().encode(text).length > FILTER_BYTES_MAX) return false;
  const levels = text.split("/");
  return levels.every((level, index) => {
    if (level === "#") return index === levels.length - 1;
    return level === "+" || !/[+#]/.test(level);
  });
}

/** Whether some topic matches both: each would bring its messages. */
export function filtersOverlap(a: string, b: string): boolean {
  const [levelsA, levelsB] = [a.split("/"), b.split("/")];
  for (let index = 0; ; index++) {
    const [levelA, levelB] = [levelsA[index], levelsB[index]];
    if (levelA === "#" || levelB === "#") return true; // `a/#` matches `a` too.
    if (levelA === undefined || levelB === undefined) return levelA === levelB;
    if (levelA !== levelB && levelA !== "+" && levelB !== "+") return false;
  }
}
