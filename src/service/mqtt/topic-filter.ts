import { Buffer } from "node:buffer";

/*
 * MQTT topic filters: levels between slashes, `+` for any one level, `#` at the end for all that follow. The server
 * also subscribes to topics with more or fewer levels than the operator's filter, only to report positions published
 * there.
 */

const FILTER_BYTES_MAX = 65_535;

/** Whether a broker would accept the filter. Topics that begin with a dollar sign are the broker's own. */
export function isTopicFilter(text: string): boolean {
  if (text === "" || text.startsWith("$") || text.includes("\0")) return false;
  if (new TextEncoder().encode(text).length > FILTER_BYTES_MAX) return false;
  const levels = text.split("/");
  return levels.every((level, index) => {
    if (level === "#") return index === levels.length - 1;
    return level === "+" || !/[+#]/.test(level);
  });
}

/** Whether a topic can match both, so that its messages would arrive twice. */
export function filtersOverlap(a: string, b: string): boolean {
  const [levelsA, levelsB] = [a.split("/"), b.split("/")];
  for (let index = 0; ; index++) {
    const [levelA, levelB] = [levelsA[index], levelsB[index]];
    if (levelA === "#" || levelB === "#") return true; // `a/#` matches `a` too.
    if (levelA === undefined || levelB === undefined) return levelA === levelB;
    if (levelA !== levelB && levelA !== "+" && levelB !== "+") return false;
  }
}

/** What OwnTracks publishes below its devices' topics. */
const OWN_SUFFIXES = new Set([
  "event",
  "waypoint",
  "waypoints",
  "status",
  "cmd",
  "info",
  "step",
  "beacon",
  "dump",
]);
const TOPICS_MAX = 5;
/** A publisher may invent topics of any depth, so the log names at most five. */
const DEPTHS_MAX = 5;
const TOPIC_CHARACTERS_MAX = 128;
/** A position has its type in its first bytes. */
const LOOKED_AT_BYTES = 4096;

/** Filters for similar topics: with fewer levels, with more, and with a leading slash. */
export function filtersBeside(topicFilter: string): string[] {
  const levels = topicFilter.split("/");
  const isOpen = levels.at(-1) === "#";
  const beside: string[] = [];
  for (let count = 2; count < levels.length - Number(isOpen); count++)
    beside.push(levels.slice(0, count).join("/"));
  if (!isOpen) beside.push([topicFilter, "+", "#"].join("/"));
  const [first = ""] = levels;
  if (first !== "" && first !== "+" && first !== "#") beside.push(`/${topicFilter}`);
  return beside;
}

/** Positions under topics that no filter matches. */
export class UnheardTopics {
  count = 0;
  readonly #topics = new Set<string>();
  /** Numbers of levels that the log has named. */
  readonly #depths = new Set<number>();

  /** A few of the topics. */
  get topics(): readonly string[] {
    return [...this.#topics];
  }

  /** Counts a position. True if the log should name its topic: the first one of its depth, at five depths at most. */
  note(topic: string, body: Uint8Array): boolean {
    if (OWN_SUFFIXES.has(topic.slice(topic.lastIndexOf("/") + 1)) || !isPosition(body)) return false;
    this.count++;
    if (this.#topics.size < TOPICS_MAX) this.#topics.add(topic.slice(0, TOPIC_CHARACTERS_MAX));
    const depth = topic.split("/").length;
    if (this.#depths.has(depth) || this.#depths.size >= DEPTHS_MAX) return false;
    this.#depths.add(depth);
    return true;
  }
}

function isPosition(body: Uint8Array): boolean {
  const beginning = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, LOOKED_AT_BYTES));
  const names = (word: string) => beginning.includes(`"${word}"`);
  return names("_type") && (names("location") || names("encrypted"));
}
