import { setImmediate } from 'node:timers';
import { inspect, isDeepStrictEqual } from 'node:util';
import { ERRORS, errorFromData, isTurnkeepError } from '../core/errors.ts';
import type { ErrorCode, ErrorDetails, TurnkeepError } from '../core/errors.ts';

// The first looks come as close behind each other as they can.
const MICROTASK_LOOKS = 20;

/** A case found what its clause forbids. */
export class ConformanceFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ConformanceFailure';
  }
}

export function holds(condition: unknown, message: string): asserts condition {
  if (!condition) throw new ConformanceFailure(message);
}

/** Deep equality; a property that holds `undefined` is another than one that is absent. */
export function same(actual: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new ConformanceFailure(`${what}: found ${show(actual)}, expected ${show(expected)}`);
}

/** Equality of long texts; the message shows the first line that differs. */
export function sameText(actual: string, expected: string, what: string): void {
  if (actual === expected) return;
  const [found, wanted] = [actual.split('\n'), expected.split('\n')];
  const at = found.findIndex((line, index) => line !== wanted[index]);
  const line = at < 0 ? found.length : at;
  throw new ConformanceFailure(`${what}: line ${line + 1} is ${show(found[line])}, expected ${show(wanted[line])}`);
}

/** Awaits a refusal with this code and, where they are given, exactly these details. */
export async function refused<Code extends ErrorCode>(
  work: Promise<unknown> | (() => unknown),
  code: Code,
  details?: ErrorDetails[Code],
): Promise<TurnkeepError<Code>> {
  const error = await failureOf(work);
  holds(error !== undefined, `expected ${code}, but nothing was refused`);
  if (!isTurnkeepError(error)) throw new ConformanceFailure(`expected ${code}, found ${show(error)}`, { cause: error });
  holds(isTurnkeepError(error, code), `expected ${code}, found ${error.message}`);
  same(error.retry, ERRORS[code].retry, `the retry class of ${code}`);
  if (details !== undefined) same(defined(error.details), defined(details), `the details of ${code}`);
  const crossed = errorFromData(JSON.parse(JSON.stringify(error.toData())) as ReturnType<typeof error.toData>);
  same(crossed.message, error.message, `the message of ${code} after crossing a wire`);
  return error;
}

/** Lets other work of this process go on: a look, a few microtasks, then everything that waits. */
export async function letOthersRun(looks: number): Promise<void> {
  if (looks < MICROTASK_LOOKS) return;
  await new Promise((resolve) => setImmediate(resolve));
}

/** What `work` failed with; `undefined` where it did not. */
export async function failureOf(work: Promise<unknown> | (() => unknown)): Promise<unknown> {
  try {
    await (typeof work === 'function' ? work() : work);
    return undefined;
  } catch (error) {
    return error ?? new ConformanceFailure('it failed with nothing');
  }
}

function defined(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}

const SHOWN_UNITS = 600;

export function show(value: unknown): string {
  const text = inspect(value, { depth: 8, breakLength: Infinity });
  return text.length <= SHOWN_UNITS ? text : `${text.slice(0, SHOWN_UNITS).toWellFormed()}…`;
}
