import { sha256 } from '../platform/hash.ts';

/**
 * An id of ours for something of another tool: a prefix and a digest over what names it there. The same record of the
 * same session gives the same id, in every process and at every time, so that an import can be repeated. Parts are kept
 * apart by their length: no two lists of parts give one text.
 */
export function importedId(prefix: string, ...parts: readonly string[]): string {
  const text = parts.map((part) => `${part.length}:${part}`).join('');
  // As bytes every lone surrogate is the same mark: JSON says which one it is.
  return `${prefix}_${sha256(text.isWellFormed() ? text : JSON.stringify(parts))}`;
}
