import { expect, test } from 'vitest';
import { textOf } from './files.ts';
import { layerOf, libraryModules, parseModule, type SourceModule } from './modules.ts';

interface Layer {
  readonly imports: readonly string[];
  /** Package names; one that ends with a colon allows every module under it, as `node:` does. */
  readonly packages: readonly string[];
}

const layers = JSON.parse(textOf('layers.json')) as Readonly<Record<string, Layer>>; // our own file
const modules = libraryModules();
const sources = modules.filter(({ role }) => role === 'source');
const byPath = new Map(modules.map((module) => [module.path, module]));

/** Where programs and packages start: what package.json exports or runs. */
const entries = [
  ...new Set(
    [...textOf('packages/turnkeep/package.json').matchAll(/dist\/([\w/-]+)\.js/g)].map(([, name]) => `${name}.ts`),
  ),
  'testing/main.ts', // npm run conformance
];

test('imports go only where layers.json draws an arrow', () => {
  expect(sources.flatMap(strayImports)).toEqual([]);
});

test('every layer has its row in layers.json', () => {
  const unknown = sources.map(({ path }) => layerOf(path)).filter((layer) => layers[layer] === undefined);
  expect([...new Set(unknown)]).toEqual([]);
});

test('layers.json draws no arrow that nobody follows', () => {
  expect(Object.keys(layers).flatMap((name) => unusedArrows(name, sources))).toEqual([]);
});

test('no module imports itself in a circle, types included', () => {
  expect(circles(sources)).toEqual([]);
});

test('every source file is reached from an entry, every testkit from a test', () => {
  const alive = reached(entries);
  const tested = reached(modules.filter(({ role }) => role === 'test').map(({ path }) => path));
  const dead = modules.filter(({ path, role }) => (role === 'source' ? !alive.has(path) : !tested.has(path)));
  expect(dead.map(({ path }) => path)).toEqual([]);
});

test('source files do not load tests or testkits', () => {
  const stray = sources.flatMap(({ path, loads }) =>
    loads.filter((to) => byPath.get(to)?.role !== 'source').map((to) => `${path} -> ${to}`),
  );
  expect(stray).toEqual([]);
});

test('the checks see what they look for', () => {
  const module = (path: string, text: string) => parseModule(path, text);
  const inCore = module('core/head.ts', `import { open } from '../ledger/open.ts';\nimport fs from 'node:fs';`);
  expect(strayImports(inCore)).toEqual(['core/head.ts -> ledger/open.ts', 'core/head.ts -> node:fs']);
  expect(strayImports(module('ledger/open.ts', `export * from '../sqlite/index.ts';`))).toEqual([]);
  expect(strayImports(module('ledger/turn.ts', `await import('../sqlite/index.ts');`))).toEqual([
    'ledger/turn.ts -> sqlite/index.ts',
  ]);
  expect(unusedArrows('formats', [module('formats/a.ts', `import '../core/json.ts';`)])).toEqual([]);
  expect(unusedArrows('formats', [inCore])).toEqual(['formats -> core']);
  const a = module('core/a.ts', `import { b } from './b.ts';`);
  expect(circles([a, module('core/b.ts', `export { a } from './a.ts';`)])).toEqual([
    'core/a.ts -> core/b.ts -> core/a.ts',
  ]);
  expect(circles([a, module('core/b.ts', `import type { A } from './a.ts';`)])).toHaveLength(1);
  expect(circles([a, module('core/b.ts', `const a = await import('./a.ts');`)])).toEqual([]);
  const worker = module(
    'sqlite/writer.ts',
    `new Worker(new URL('./worker.js', import.meta.url)); // import('./not.ts')`,
  );
  expect(worker.loads).toEqual(['sqlite/worker.ts']);
});

function strayImports({ path, loads, packages }: SourceModule): string[] {
  const layer = layers[rowOf(path)] ?? { imports: [], packages: [] };
  const strayLayers = loads.filter((to) => layerOf(to) !== layerOf(path) && !layer.imports.includes(layerOf(to)));
  const isAllowed = (name: string) => layer.packages.some((allowed) => isOf(name, allowed));
  return [...strayLayers, ...packages.filter((name) => !isAllowed(name))].map((to) => `${path} -> ${to}`);
}

/** The row of layers.json that a module stands under: its own where it has one, else its layer's. */
function rowOf(path: string): string {
  return layers[path] ? path : layerOf(path);
}

function isOf(name: string, allowed: string): boolean {
  return name === allowed || name.startsWith(allowed.endsWith(':') ? allowed : `${allowed}/`);
}

function unusedArrows(row: string, among: readonly SourceModule[]): string[] {
  const { imports, packages } = layers[row] ?? { imports: [], packages: [] };
  const under = among.filter(({ path }) => rowOf(path) === row);
  const followed = new Set(under.flatMap(({ loads }) => loads.map(layerOf)));
  const named = under.flatMap((module) => module.packages);
  const unused = [
    ...imports.filter((layer) => !followed.has(layer)),
    ...packages.filter((allowed) => !named.some((name) => isOf(name, allowed))),
  ];
  return unused.map((to) => `${row} -> ${to}`);
}

/** A conversation runs agents, and hands each its turn; the turn shows the conversation that it is of. */
const BOTH_WAYS: Readonly<Record<string, string>> = {
  'ledger/agent/agent-turn.ts': 'ledger/conversation.ts',
  'ledger/agent/turn-run.ts': 'ledger/conversation.ts',
};

function circles(among: readonly SourceModule[]): string[] {
  const loadsOf = new Map(among.map(({ path, names }) => [path, names.filter((name) => name !== BOTH_WAYS[path])]));
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: readonly string[]) => {
    if (trail.includes(path)) found.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
    if (done.has(path) || trail.includes(path)) return;
    for (const next of loadsOf.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const { path } of among) visit(path, []);
  return found;
}

function reached(from: readonly string[]): Set<string> {
  const seen = new Set<string>();
  const waiting = [...from];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    waiting.push(...(byPath.get(path)?.loads ?? []));
  }
  return seen;
}
