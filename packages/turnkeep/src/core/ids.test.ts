import { expect, test } from 'vitest';
import { assertId, assertNamespaceId, idProblem, utf8Length } from './ids.ts';

test('an id is 1 to 512 bytes of UTF-8, without control characters and lone surrogates', () => {
  for (const id of ['a', ' ', '../..', '%', 'é'.repeat(256), '\u{1f525}'.repeat(128), 'x'.repeat(512), 'e\u0301']) {
    expect(idProblem(id)).toBeUndefined();
  }
  for (const id of [
    '',
    'x'.repeat(513),
    'é'.repeat(257),
    '\u{1f525}'.repeat(128) + 'x',
    'a\u0000',
    'a\n',
    '\u007f',
    '\u0085',
    'a\ud800',
    7,
    null,
  ]) {
    expect(idProblem(id)).toBeTypeOf('string');
    expect(() => assertId(id, 'here')).toThrow(
      expect.objectContaining({ code: 'invalid_value', details: { path: 'here', reason: idProblem(id) } }),
    );
  }
});

test('a namespace is 1 to 128 of its characters, and neither . nor ..', () => {
  for (const id of ['a', 'A-Z0-9._@|:+-', '...', 'x'.repeat(128)])
    expect(() => assertNamespaceId(id, 'n')).not.toThrow();
  for (const id of ['', '.', '..', 'a/b', 'a b', 'é', 'x'.repeat(129), 7]) {
    expect(() => assertNamespaceId(id, 'n')).toThrow(expect.objectContaining({ code: 'invalid_value' }));
  }
});

test('the bytes of a text are counted as UTF-8 counts them', () => {
  for (const text of [
    '',
    'abc',
    'é',
    '€',
    '\u{1f525}',
    'a\u{1f525}é€',
    '\ud800',
    '\udc00',
    '\ud800a',
    '\udc00\ud800',
    '\ud800\ud800\udc00',
  ]) {
    expect(utf8Length(text)).toBe(Buffer.byteLength(text));
  }
});
