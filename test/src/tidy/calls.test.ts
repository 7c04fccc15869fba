import { expect, test } from 'vitest';
import { layerOf, libraryModules, parseModule, type SourceModule } from './modules.ts';

interface Ban {
  readonly what: string;
  readonly pattern: RegExp;
  /** Layers that may do it all the same. */
  readonly allowed: readonly string[];
}

const PROGRAMS = ['platform', 'cli', 'testing'];
const BACKENDS = ['journal', 'sqlite', 'postgres'];

/** What reaches outside the program is injected, so that a test can decide it: only these places do it themselves. */
const BANS: readonly Ban[] = [
  {
    what: 'the clock',
    pattern: /\bDate\.now\b|\bnew Date\(\s*\)|\bDate\(\s*\)|\bperformance\.now\b|\bhrtime\b/,
    allowed: PROGRAMS,
  },
  {
    what: 'chance',
    pattern: /\bMath\.random\b|\brandom(Bytes|UUID|Int|FillSync)\b|\bgetRandomValues\b/,
    allowed: PROGRAMS,
  },
  { what: 'timers', pattern: /\bset(Timeout|Interval|Immediate)\b|\bnode:timers\b/, allowed: PROGRAMS },
  { what: 'the environment', pattern: /\bprocess\.(env|argv|cwd)\b/, allowed: PROGRAMS },
  { what: 'files', pattern: /['"](?:node:)?fs(?:\/promises)?['"]/, allowed: [...PROGRAMS, ...BACKENDS] },
  { what: 'processes', pattern: /['"](?:node:)?child_process['"]/, allowed: PROGRAMS },
  { what: 'the console', pattern: /\bconsole\.\w|\bprocess\.(stdout|stderr)\b/, allowed: ['cli', 'testing'] },
];

test('clocks, chance, timers, files and the environment are touched only where that is the job', () => {
  const sources = libraryModules().filter(({ role }) => role === 'source');
  expect(sources.flatMap(bannedCalls)).toEqual([]);
});

test('the check sees code, not comments', () => {
  const code = `// Date.now() is banned\nexport const now = () => Date.now();\nimport 'node:fs';`;
  expect(bannedCalls(parseModule('ledger/a.ts', code))).toEqual(['ledger/a.ts: the clock', 'ledger/a.ts: files']);
  expect(bannedCalls(parseModule('journal/a.ts', code))).toEqual(['journal/a.ts: the clock']);
  expect(bannedCalls(parseModule('platform/a.ts', code))).toEqual([]);
});

function bannedCalls({ path, code }: SourceModule): string[] {
  const broken = BANS.filter(({ pattern, allowed }) => pattern.test(code) && !allowed.includes(layerOf(path)));
  return broken.map(({ what }) => `${path}: ${what}`);
}
