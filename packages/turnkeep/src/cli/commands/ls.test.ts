import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { storeWith, textParts } from '../cli.testkit.ts';
import { Output, Progress } from '../output.ts';
import { columnsOf } from '../terminal-text.ts';
import { runLs } from './ls.ts';

/** The lines that a terminal of so many columns shows, without their colours. */
async function linesAt(columns: number, store: string): Promise<readonly string[]> {
  let text = '';
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  const out = new Output(Object.assign(stream, { isTTY: true, columns }), {});
  expect(out.colors.isColorSupported).toBe(true);
  const progress = new Progress(stream, () => 0, true);
  const { signal } = new AbortController();
  await runLs({ out, progress, env: {}, signal, input: async function* () {} }, { store });
  await out.flush();
  return stripVTControlCharacters(text).trimEnd().split('\n');
}

test('ls fits the terminal, in a table or in blocks of lines, whatever width its words have', async () => {
  const id = `cnv_${'x'.repeat(43)}`;
  const store = await storeWith(async (namespace) => {
    const conversation = namespace.conversation(id);
    await conversation.create({ title: '漢字の長い題名'.repeat(20) });
    await conversation.record({
      origin: 'test',
      messages: [{ role: 'user', parts: textParts('🔥 said '.repeat(40)) }],
    });
  });
  for (const columns of [30, 51, 80, 107, 108, 140, 200]) {
    const lines = await linesAt(columns, store);
    const words = lines.filter((line) => !line.startsWith('cnv_') && !line.includes(' · '));
    expect(Math.max(...words.map(columnsOf))).toBeLessThanOrEqual(columns);
    const isTable = lines[0]?.startsWith('CONVERSATION');
    expect(isTable).toBe(columns >= 108);
    expect(lines).toHaveLength(isTable ? 3 : 4);
    expect(lines.at(-1)?.search(/\S/)).toBe(isTable ? lines[0]?.indexOf('TITLE') : 4);
    expect(lines.join('\n')).toContain('漢字の');
  }
});
