/** A value that is there at once, or will be: what need not wait is not made to. */
export type Eventually<Value> = Value | Promise<Value>;

export function whenThere<Value, Next>(
  value: Eventually<Value>,
  next: (value: Value) => Eventually<Next>,
): Eventually<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}
