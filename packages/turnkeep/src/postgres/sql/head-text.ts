/**
 * A whole number that a head has under a name of its own, out of its text; `NULL` where there is none. A cast to JSON would
 * end the statement where one head is none any more. No text within it looks like a name: there, quotes are escaped.
 */
export function numberIn(column: string, name: string): string {
  return `substring(${column} FROM '"${name}":([0-9]{1,15})[,}]')::bigint`;
}

/** The same of an id; `NULL` of one that JSON escapes. */
export function textIn(column: string, name: string): string {
  return `substring(${column} FROM '"${name}":"([^"\\\\]+)"')`;
}
