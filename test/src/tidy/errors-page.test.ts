import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';
import { ROOT, textOf } from './files.ts';

interface ErrorRule {
  readonly says: string;
  readonly retry: string;
}

const page = textOf('docs/errors.md');

test('docs/errors.md has a row for each error: what it says, when to try again, its details', async () => {
  const { ERRORS } = (await compiled('core/errors.js')) as { readonly ERRORS: { readonly [code: string]: ErrorRule } };
  const details = detailsOf(textOf('packages/turnkeep/src/core/errors.ts'));
  const rows = Object.entries(ERRORS).map(([code, { says, retry }]) => {
    return [`\`${code}\``, says, `\`${retry}\``, details.get(code)?.join(', ')];
  });
  expect(rowsOf(page, '## Codes')).toEqual(rows);
});

test('docs/errors.md has a row for each limit, with its value', async () => {
  const { LIMITS } = (await compiled('core/limits.js')) as { readonly LIMITS: { readonly [name: string]: number } };
  const rows = Object.entries(LIMITS).map(([name, value]) => [name, value.toLocaleString('en-US')]);
  expect(rowsOf(page, '## Limits').map(([name, value]) => [name, value])).toEqual(rows);
});

/** The cells of the table below a heading, without its head. */
function rowsOf(text: string, heading: string): readonly (readonly string[])[] {
  const [, below = ''] = text.split(`${heading}\n`);
  const [section = ''] = below.split(/^## /m);
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

/** A node of a syntax tree, as far as this file asks. */
interface Node {
  readonly type: string;
  readonly id?: { readonly name: string };
  readonly declaration?: Node | null;
  readonly body?: { readonly body: readonly Node[] };
  readonly key?: { readonly name: string };
  readonly typeAnnotation?: { readonly typeAnnotation: { readonly members?: readonly Node[] } };
}

/** The names of each code's details, from the interface that has their types. */
function detailsOf(text: string): ReadonlyMap<string, readonly string[]> {
  const program = parseSync('errors.ts', text).program as unknown as { readonly body: readonly Node[] }; // an ESTree
  const declarations = program.body.map(({ declaration }) => declaration);
  const found = declarations.find((one) => one?.type === 'TSInterfaceDeclaration' && one.id?.name === 'ErrorDetails');
  return new Map(
    (found?.body?.body ?? []).map(({ key, typeAnnotation }) => {
      const members = typeAnnotation?.typeAnnotation.members ?? [];
      return [key?.name ?? '', members.map((member) => member.key?.name ?? '')];
    }),
  );
}

function compiled(file: string): Promise<unknown> {
  return import(pathToFileURL(join(ROOT, 'packages/turnkeep/dist', file)).href);
}
