import { expect, test } from 'vitest';
import { isConfirmation } from './confirmations.ts';

test('knows what people say to have a task go on, in many languages, however they write it', () => {
  const confirmations = [
    'yes',
    'OK',
    'Continue!',
    '  go   ahead. ',
    'Ja, ',
    'WEITER!',
    'Oui.',
    'vas-y !',
    '¡Sí!',
    'ДА',
    '好的。',
    '继续',
    'はい、',
    '네!',
    'نعم',
    'हाँ',
    'evet…',
    'ค่ะ',
    '👍',
    '👍🏽',
    '✅',
  ];
  expect(confirmations.filter((text) => !isConfirmation(text))).toEqual([]);
  expect(isConfirmation('si\u0301'), 'composed or not').toBe(true);
});

test('takes nothing that says more, or nothing, for a confirmation', () => {
  const others = [
    'yes, but in blue',
    'ok so now the tests',
    'no',
    'nein',
    '',
    ' ',
    '?',
    '👎',
    'continued',
    '好的，但是蓝色',
    'yes no',
  ];
  expect(others.filter(isConfirmation)).toEqual([]);
});
