import { array, assert, bigInt, constantFrom, property, string, tuple } from 'fast-check';
import { expect, test } from 'vitest';
import { addDecimals, DECIMAL } from './decimal.ts';

test('adds digit by digit, with the places of the longer one', () => {
  expect(addDecimals('0.1', '0.2')).toBe('0.3');
  expect(addDecimals('1.10', '2.9')).toBe('4.00');
  expect(addDecimals('999', '1')).toBe('1000');
  expect(addDecimals('0.05', '0.05')).toBe('0.10');
  expect(addDecimals('12345678901234567890.000000000000000001', '0.9')).toBe('12345678901234567890.900000000000000001');
});

test('a decimal has no sign, no exponent, no spaces and no leading zeros', () => {
  for (const good of ['0', '0.0', '7', '10.50', '0.00001']) expect(DECIMAL.test(good)).toBe(true);
  for (const bad of ['', '.5', '1.', '01', '-1', '+1', '1e3', ' 1', '1,5', '٣', '1.5.5', 'NaN'])
    expect(DECIMAL.test(bad)).toBe(false);
});

const decimal = tuple(
  bigInt({ min: 0n, max: 10n ** 20n }),
  string({ unit: constantFrom('0', '1', '5', '9'), maxLength: 20 }),
).map(([whole, fraction]) => (fraction === '' ? `${whole}` : `${whole}.${fraction}`));

test('the order of adding never shows', () => {
  assert(
    property(array(decimal, { minLength: 2, maxLength: 6 }), (decimals) => {
      const forwards = decimals.reduce(addDecimals);
      expect(forwards).toMatch(DECIMAL);
      expect(decimals.toReversed().reduce(addDecimals)).toBe(forwards);
    }),
  );
});
