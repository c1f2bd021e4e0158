/** A value that is there at once, or will be: what need not wait is not made to. */
export type MaybePromise<Value> = Value | Promise<Value>;

export function whenThere<Value, Next>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Next>,
): MaybePromise<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}
