/** A value as text with its keys in one order: equal values, equal text. A property that holds `undefined` is absent. */
export function inOrder(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(inOrder).join()}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${inOrder(member)}`).join()}}`;
}

/** Deep equality, whatever the order of keys. */
export function sameJson(left: unknown, right: unknown): boolean {
  return inOrder(left) === inOrder(right);
}

/** A list whose order says nothing, in one order. */
export function inAnyOrder(list: readonly unknown[]): readonly string[] {
  return list.map(inOrder).sort();
}
