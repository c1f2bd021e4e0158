/** Resolves after what waits on the event loop has had its turn: long work asks for it every few milliseconds. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
