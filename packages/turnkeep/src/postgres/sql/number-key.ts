const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz';
/** Of 36, those up to 2^53. */
const POWERS = Array.from({ length: 11 }, (_, at) => 36 ** at).join(',');

/** A whole number from 0 to 2^53 - 1 as keys have it (`numberKey` of core): a length digit and base 36. */
export function numberKeyOf(number: string): string {
  return `(SELECT substr('${DIGITS}', 1 + count(*)::integer, 1)
      || string_agg(substr('${DIGITS}', 1 + (${number} / p % 36)::integer, 1), '' ORDER BY p DESC)
    FROM unnest('{${POWERS}}'::bigint[]) AS u (p) WHERE p <= greatest(${number}, 1))`;
}
