/** As in "1,234": the page is in English, whatever the browser is in. */
export function countText(count: number): string {
  return count.toLocaleString("en");
}

/** As in "1 device", "1,234 devices". */
export function counted(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? "" : "s"}`;
}
