/** A decimal number as text: digits, with a fraction where there is a point. No sign, no exponent, no leading zeros. */
export const DECIMAL: RegExp = /^(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** The exact sum of two decimals, with as many places as the longer of them: the order of adding never matters. */
export function addDecimals(left: string, right: string): string {
  const places = Math.max(placesOf(left), placesOf(right));
  const sum = scaledDecimal(left, places) + scaledDecimal(right, places);
  if (places === 0) return sum.toString();
  const digits = sum.toString().padStart(places + 1, '0');
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

function placesOf(decimal: string): number {
  const point = decimal.indexOf('.');
  return point < 0 ? 0 : decimal.length - point - 1;
}

/** The decimal times ten to the power of `places`, which is at least as many as it has. */
export function scaledDecimal(decimal: string, places: number): bigint {
  return BigInt(decimal.replace('.', '') + '0'.repeat(places - placesOf(decimal)));
}
