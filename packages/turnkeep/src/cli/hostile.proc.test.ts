import { expect, test } from 'vitest';
import type { Namespace } from '../ledger/namespace.ts';
import { cli, DANGEROUS, storeWith, textParts } from './cli.testkit.ts';

const HOSTILE = 'a\u001b[2J\u001b]0;title\u0007\u009b31m\u0000\u202eRTL\u202c\u2066\ud800\u2028b\r\u007f שלום 漢字 👩‍👩‍👧';

async function fillHostile(namespace: Namespace): Promise<void> {
  const conversation = namespace.conversation('id\u202e\u2028');
  await conversation.create({ title: HOSTILE, labels: [HOSTILE] });
  const content = textParts(HOSTILE);
  await conversation.record({
    turnId: 'turn\u2066',
    origin: 'test',
    messages: [
      {
        role: 'user',
        messageId: 'msg\u202e',
        author: { id: HOSTILE, kind: 'human', name: HOSTILE },
        parts: content,
        occurredAt: HOSTILE,
        finishReason: HOSTILE,
      },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: HOSTILE },
          { type: 'refusal', text: HOSTILE },
          { type: 'source', sourceId: HOSTILE, title: HOSTILE, url: HOSTILE },
          { type: 'file', mediaType: HOSTILE, name: HOSTILE, source: { url: HOSTILE } },
          { type: 'data', name: HOSTILE, data: { [HOSTILE]: HOSTILE } },
          { type: 'opaque', kind: 'a.b', value: HOSTILE },
          { type: 'tool_call', callId: 'call\u202e', name: HOSTILE, inputText: HOSTILE },
        ],
      },
      { role: 'tool', parts: [{ type: 'tool_result', callId: 'call\u202e', name: HOSTILE, status: 'ok', content }] },
    ],
  });
  await conversation.tasks.create({ taskId: 'task\u202e', title: HOSTILE, assignee: HOSTILE });
}

const COMMANDS = [
  ['ls'],
  ['show', 'id\u202e\u2028'],
  ['show', 'id\u202e\u2028', '--full'],
  ['show', 'no\u202e'],
  ['tree', 'id\u202e\u2028'],
  ['search', 'RTL'],
  ['search', '\u001b[2J'],
  ['tasks'],
  ['verify'],
];

test('nothing that is stored reaches the terminal as a command', async () => {
  const store = await storeWith(fillHostile);
  const runs = COMMANDS.flatMap((args) => [args, [...args, '--json']]);
  const printed = await Promise.all(
    runs.map(async (args) => {
      const { stdout, stderr } = await cli([...args, '--store', store]);
      return { args, text: stdout + stderr };
    }),
  );
  expect(printed.filter(({ text }) => text === '' || DANGEROUS.test(text))).toEqual([]);
});

test('JSON gives back exactly what was stored', async () => {
  const store = await storeWith(fillHostile);
  const { stdout } = await cli(['ls', '--json', '--store', store]);
  const { conversations } = JSON.parse(stdout) as { conversations: { title: string }[] }; // our own output
  expect(conversations[0]?.title).toBe(HOSTILE);
  const shown = await cli(['show', 'id\u202e\u2028', '--json', '--store', store]);
  const first = JSON.parse(shown.stdout.split('\n')[0] ?? '') as { parts: unknown }; // our own output
  expect(first.parts).toEqual(textParts(HOSTILE));
});

test('a very long line is shown whole where it is read and clipped where it is listed', async () => {
  const long = '漢'.repeat(100_000);
  const store = await storeWith((namespace) =>
    namespace.conversation('long').record({ origin: 'test', messages: [{ role: 'user', parts: textParts(long) }] }),
  );
  expect((await cli(['show', 'long', '--store', store])).stdout).toContain(long);
  for (const args of [['ls'], ['tree', 'long'], ['search', '漢漢']]) {
    const { code, stdout } = await cli([...args, '--store', store]);
    expect(code).toBe(0);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThan(400);
  }
});
