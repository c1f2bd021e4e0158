/** Memory for the bodies of requests under way, all together: what many slow or large ones take stays bounded. */
export interface BodyBudget {
  /** Lets a request in; null where as many are under way as may be. */
  begin(): BodyShare | null;
  readonly requests: number;
  readonly requestsMax: number;
  readonly bytes: number;
  readonly bytesMax: number;
}

/** What one request takes of the budget. */
export interface BodyShare {
  /** How long its body may take to arrive. */
  readonly arrivalMsMax: number;
  /** Takes more; false where there is not as much left or the share has ended, and then nothing is taken. */
  take(bytes: number): boolean;
  /** Gives back all of it, once. */
  end(): void;
}

export function createBodyBudget(requestsMax: number, bytesMax: number, arrivalMsMax: number): BodyBudget {
  let requests = 0;
  let bytes = 0;
  return {
    requestsMax,
    bytesMax,
    get requests() {
      return requests;
    },
    get bytes() {
      return bytes;
    },
    begin() {
      if (requests >= requestsMax) return null;
      requests++;
      let taken = 0;
      let isEnded = false;
      return {
        arrivalMsMax,
        take(more) {
          if (isEnded || bytes + more > bytesMax) return false;
          bytes += more;
          taken += more;
          return true;
        },
        end() {
          isEnded = true;
          requests--;
          bytes -= taken;
        },
      };
    },
  };
}
