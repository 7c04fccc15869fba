import type { ErrorCode, ErrorDetails } from 'turnkeep/core';

/** The oracle's "no": the code and the details that the library must answer too. */
export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly details: object;

  constructor(code: ErrorCode, details: object) {
    super(`${code} ${JSON.stringify(details)}`);
    this.code = code;
    this.details = details;
  }
}

export function refuse<Code extends ErrorCode>(code: Code, details: ErrorDetails[Code]): never {
  throw new Refusal(code, details);
}
