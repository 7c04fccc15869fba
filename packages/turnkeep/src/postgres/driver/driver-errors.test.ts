import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isTurnkeepError } from '../../core/errors.ts';
import { driverFault, KINDS, storeError } from './driver-errors.ts';

const MANUAL = readFileSync(new URL('../../../../../docs/backends/postgres.md', import.meta.url), 'utf8');
const [, FAILURES = ''] = /## Failures\n([^#]+)/.exec(MANUAL) ?? [];

/** The rows of the manual's table: SQLSTATEs or classes of them, and the code of the error. */
const rows = [...FAILURES.matchAll(/^\| [^|]+ \| ([^|]+) \| `(\w+)`/gm)].map(([, states = '', code = '']) => ({
  states: states.match(/\b[0-9A-Z]{5}\b|\b[0-9A-Z]{2}\b/g) ?? [],
  code,
}));

it('each class of failure has the error that the manual says', () => {
  for (const { states, code } of rows) {
    for (const state of states) {
      const error = storeError(Object.assign(new Error('no'), { code: state.padEnd(5, '9') }), 'here', 7);
      expect([state, isTurnkeepError(error) ? error.code : String(error)]).toEqual([state, code]);
    }
  }
});

it('and the manual leaves none out', () => {
  expect(new Set(rows.flatMap(({ states }) => states))).toEqual(new Set(Object.keys(KINDS)));
});

it('what a socket says of its end is a lost connection, and where nobody listens none was there', () => {
  for (const code of ['ECONNRESET', 'EPIPE', 'ETIMEDOUT']) expect(driverFault({ code }).kind).toBe('lost');
  for (const code of ['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH'])
    expect(driverFault({ code }).kind).toBe('unreachable');
  expect(driverFault(new Error('Connection terminated unexpectedly')).kind).toBe('lost');
});
