import { expect, test } from 'vitest';
import type { NewMessage, Part } from '../../core/message.ts';
import { openLedger } from '../open.ts';
import { cutsOf } from './cuts.ts';

const says = (role: NewMessage['role'], ...parts: readonly Part[]): NewMessage => ({ role, parts });
const words: Part = { type: 'text', text: 'w'.repeat(50) };
const thought: Part = { type: 'reasoning', text: 'hm' };
const call = (callId: string): Part => ({ type: 'tool_call', callId, name: 'look', input: {} });
const result = (callId: string): Part => ({ type: 'tool_result', callId, status: 'ok', output: 'found' });

const user = says('user', words);
const answer = says('assistant', words);

test.each<[string, readonly NewMessage[], string]>([
  ['words alone may start anywhere', [user, answer, user], '| | |'],
  ['a call stays with its result', [user, says('assistant', call('a')), says('tool', result('a')), answer], '| | . |'],
  [
    'what stands between a call and its result stays with both',
    [says('assistant', call('a'), call('b')), says('tool', result('b')), user, says('tool', result('a')), answer],
    '| . . . |',
  ],
  ['a result without its call holds nothing together', [user, says('tool', result('a')), answer], '| | |'],
  [
    'a call id that comes again is another call',
    [says('assistant', call('a')), says('tool', result('a')), user],
    '| . |',
  ],
  ['reasoning stays with what it led to', [user, says('assistant', thought), answer, user], '| | . |'],
  [
    'reasoning that led to a call stays with its result',
    [says('assistant', thought), says('assistant', call('a')), says('tool', result('a')), user],
    '| . . |',
  ],
  ['reasoning beside words leads to nothing more', [says('assistant', thought, words), answer], '| |'],
  ['reasoning at the end holds nothing', [user, says('assistant', thought)], '| |'],
])('%s', (_name, messages, cuts) => {
  expect(
    cutsOf(messages)
      .map((mayStart) => (mayStart ? '|' : '.'))
      .join(' '),
  ).toBe(cuts);
});

test('a group that is longer than what is read at once is not cut where the reading paused', async () => {
  const ledger = await openLedger('memory:');
  const conversation = ledger.namespace('n').conversation('c');
  const between = Array.from({ length: 70 }, () => answer);
  const after = Array.from({ length: 20 }, () => answer);
  const messages = [says('assistant', call('a')), ...between, says('tool', result('a')), ...after];
  await conversation.record({ origin: 'told', messages });
  const counter = { count: (text: string) => text.length };
  const found = await conversation.context({ format: 'openai-chat', budgetTokens: 4_000, counter, batchTurns: 1 });
  if (found.status !== 'ready') throw new Error('a summary is asked for');
  // Forty messages of fifty would fit: the result and some before it, without its call.
  expect(found.report).toMatchObject({ shown: 20, repairs: [] });
  await ledger.close();
});
