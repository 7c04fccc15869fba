import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { Output, OutputClosed, Progress } from './output.ts';
import type { OutputStream } from './output.ts';

/** A stream that keeps what it is given. */
function keeping(
  more: { readonly isTTY?: boolean; readonly columns?: number } = {},
): OutputStream & { readonly text: () => string } {
  let kept = '';
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      kept += chunk.toString();
      done();
    },
  });
  return Object.assign(stream, more, { text: () => kept });
}

test('colour is for terminals that can and want it, or where it is forced', () => {
  const has = (isTTY: boolean, env: Record<string, string>) =>
    new Output(keeping({ isTTY }), env).colors.isColorSupported;
  expect(has(true, {})).toBe(true);
  expect(has(false, {})).toBe(false);
  expect(has(true, { NO_COLOR: '1' })).toBe(false);
  expect(has(true, { TERM: 'dumb' })).toBe(false);
  expect(has(false, { FORCE_COLOR: '1' })).toBe(true);
  expect(has(true, { FORCE_COLOR: '0' })).toBe(false);
  expect(has(false, { FORCE_COLOR: '1', NO_COLOR: '1' })).toBe(false);
});

test('lines come in order and whole', async () => {
  const stream = keeping();
  const out = new Output(stream, {});
  for (let at = 0; at < 20_000; at++) await out.line(`line ${at}`);
  await out.flush();
  expect(stream.text().split('\n')).toHaveLength(20_001);
  expect(stream.text().endsWith('line 19999\n')).toBe(true);
});

test('a reader that left ends the writing', async () => {
  const stream = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('broken pipe'), { code: 'EPIPE' })),
  });
  const out = new Output(stream, {});
  await out.line('x');
  await expect(out.flush()).rejects.toBeInstanceOf(OutputClosed);
});

test('progress is one clipped line on a terminal, that goes again, and seldom a line elsewhere', () => {
  let now = 0;
  const terminal = keeping({ isTTY: true, columns: 12 });
  const drawn = new Progress(terminal, () => now, false);
  drawn.show(() => 'too early');
  now = 200;
  drawn.show(() => 'a long\n\u001b[31m text');
  drawn.end();
  drawn.end();
  expect(terminal.text()).toBe('\r\u001b[2Ka long ␛[3…\r\u001b[2K');
  const file = keeping();
  now = 0;
  const logged = new Progress(file, () => now, false);
  for (now = 0; now <= 11_000; now += 1_000) logged.show(() => `at ${now}`);
  logged.end();
  expect(file.text()).toBe('at 5000\nat 10000\n');
  const silent = keeping({ isTTY: true });
  new Progress(silent, () => now * 2, true).show(() => 'never');
  expect(silent.text()).toBe('');
});
