import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { Agent, Part } from 'turnkeep';

/** An agent whose effects stand in a file, one line for each time that something was really done. */

export const TURN: { readonly prompt: readonly Part[] } = { prompt: [{ type: 'text', text: 'ship the parcel' }] };
export const KEY = 'turn-1';

export function text(words: string): Part {
  return { type: 'text', text: words };
}

export function did(effects: string, what: string): void {
  appendFileSync(effects, `${what}\n`);
}

/** What was done so far. */
export function effectsIn(effects: string): readonly string[] {
  return existsSync(effects) ? readFileSync(effects, 'utf8').split('\n').slice(0, -1) : [];
}

/**
 * A model call, then three steps at once: `read`, which is safe to repeat; `ship`, which can be looked up; `pay`, which is
 * neither; then an answer.
 */
export function clerk(effects: string): Agent {
  const once = (key: string) => async () => {
    did(effects, key);
    return `${key} done`;
  };
  const shipped = async () =>
    effectsIn(effects).includes('ship') ? ({ done: true, result: 'ship done' } as const) : ({ done: false } as const);
  return async (turn) => {
    await turn.model('plan', async function* () {
      did(effects, 'plan');
      yield text('I read, ship ');
      yield text('and pay.');
    });
    const results = await Promise.all([
      turn.step('read', once('read'), { retry: 'safe' }),
      turn.step('ship', once('ship'), { reconcile: shipped }),
      turn.step('pay', once('pay')),
    ]);
    return [{ role: 'assistant', parts: [text(results.join(', '))] }];
  };
}
