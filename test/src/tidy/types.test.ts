import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';
import { textOf } from './files.ts';
import { layerOf, libraryModules } from './modules.ts';

/** Layers whose types no caller meets. */
const OWN: readonly string[] = ['cli', 'testing'];

/** A node of a syntax tree: its type, and whatever else it has. */
interface Node {
  readonly type: string;
  readonly [field: string]: unknown;
}

test('an optional property takes undefined too, for callers with exactOptionalPropertyTypes', () => {
  const sources = libraryModules().filter(({ path, role }) => role === 'source' && !OWN.includes(layerOf(path)));
  expect(sources.flatMap(({ path }) => narrowOptions(path, textOf(`packages/turnkeep/src/${path}`)))).toEqual([]);
});

test('the check looks at types that are declared, not at those that a cast guesses', () => {
  const code = `interface A { a?: string; b?: string | undefined; c?: unknown }
    export const f = (o: { d?: 1 }) => (o as { e?: 1 }).e;`;
  expect(narrowOptions('a.ts', code)).toEqual(['a.ts: a', 'a.ts: d']);
});

function narrowOptions(path: string, text: string): string[] {
  const found: string[] = [];
  if (!text.includes('?:')) return found;
  visit(parseSync(path, text).program, (node) => {
    if (node.type !== 'TSPropertySignature' || node['optional'] !== true || node['computed'] === true) return;
    const { name } = node['key'] as Node;
    if (!takesUndefined(node['typeAnnotation'] as Node | null)) found.push(`${path}: ${String(name)}`);
  });
  return found;
}

function takesUndefined(annotation: Node | null): boolean {
  const type = annotation?.['typeAnnotation'] as Node | undefined;
  const members = type?.type === 'TSUnionType' ? (type['types'] as readonly Node[]) : [type];
  return members.some((member) => ['TSUndefinedKeyword', 'TSUnknownKeyword'].includes(member?.type ?? ''));
}

function visit(value: unknown, look: (node: Node) => void): void {
  if (typeof value !== 'object' || value === null) return;
  const node = value as Node;
  if (node.type === 'TSAsExpression') return visit(node['expression'], look);
  if (typeof node.type === 'string') look(node);
  for (const child of Object.values(node)) visit(child, look);
}
