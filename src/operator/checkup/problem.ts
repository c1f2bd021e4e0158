/** Something on the way from phones to the server that costs reports, and what helps. */
export interface Problem {
  readonly what: string;
  readonly advice: string;
}
