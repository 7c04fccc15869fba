import { posix } from 'node:path';
import { parseSync } from 'oxc-parser';
import { repositoryFiles, textOf } from './files.ts';

/** A source file of the library, read as the tidy tests need it. */
export interface SourceModule {
  /** Path below packages/turnkeep/src, as in `core/errors.ts`. */
  readonly path: string;
  readonly role: 'source' | 'test' | 'testkit';
  /** The text with its comments blanked out, so that a search finds only code. */
  readonly code: string;
  /** Library files that this one loads: imports, re-exports, and `new URL('./worker.js', import.meta.url)`. */
  readonly loads: readonly string[];
  /** The subset of `loads` that it cannot be read without, types included: neither `import()` nor URLs. */
  readonly names: readonly string[];
  /** What it imports from elsewhere: `zod`, `node:fs`. */
  readonly packages: readonly string[];
}

interface Import {
  readonly specifier: string;
  /** False for `import()` and URLs. */
  readonly isStatic: boolean;
}

const SOURCE = 'packages/turnkeep/src/';

/** Every module of the library. */
export function libraryModules(): SourceModule[] {
  return repositoryFiles()
    .filter((path) => path.startsWith(SOURCE) && path.endsWith('.ts') && !path.endsWith('.d.ts'))
    .map((path) => parseModule(path.slice(SOURCE.length), textOf(path)));
}

/** Reads one module. The path decides its role and resolves its relative imports. */
export function parseModule(path: string, text: string): SourceModule {
  const { module, comments, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]?.message}`);
  const code = comments.reduce(
    (rest, { start, end }) => rest.slice(0, start) + rest.slice(start, end).replaceAll(/[^\n]/g, ' ') + rest.slice(end),
    text,
  );
  const imports: Import[] = [
    ...module.staticImports.map(({ moduleRequest }) => ({ specifier: moduleRequest.value, isStatic: true })),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) =>
        moduleRequest === null ? [] : [{ specifier: moduleRequest.value, isStatic: true }],
      ),
    ),
    ...[...code.matchAll(/\bimport\(\s*['"]([^'"]+)['"]|new URL\(\s*['"](\.[^'"]+)['"],\s*import\.meta\.url/g)].map(
      ([, imported, url]) => ({ specifier: imported ?? url ?? '', isStatic: false }),
    ),
  ];
  const relative = imports.filter(({ specifier }) => specifier.startsWith('.'));
  const resolve = ({ specifier }: Import) => posix.join(posix.dirname(path), specifier.replace(/\.js$/, '.ts'));
  return {
    path,
    role: path.endsWith('.test.ts') ? 'test' : path.endsWith('.testkit.ts') ? 'testkit' : 'source',
    code,
    loads: [...new Set(relative.map(resolve))],
    names: [...new Set(relative.filter(({ isStatic }) => isStatic).map(resolve))],
    packages: [...new Set(imports.map(({ specifier }) => specifier).filter((name) => !name.startsWith('.')))],
  };
}

/** The first folder of a path, which is its layer; a file at the top is a layer of its own. */
export function layerOf(path: string): string {
  return path.split('/')[0] ?? path;
}
