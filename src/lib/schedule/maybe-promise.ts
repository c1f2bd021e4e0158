/** A value that is there already, or a promise of it. Callers need not wait for a value that is there. */
export type MaybePromise<Value> = Value | Promise<Value>;

/** Like `Promise.then()`, but calls `next` immediately if the value is there. */
export function mapMaybe<Value, Next>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Next>,
): MaybePromise<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}
