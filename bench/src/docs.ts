import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argumentsOf, wrongArguments } from '../../packages/turnkeep/dist/testing/command-line.js';
import { figuresPage } from './report/markdown.ts';
import type { Results } from './report/markdown.ts';
import { svgOf } from './report/plot.ts';
import type { Plot } from './workload.ts';
import { WORKLOADS } from './workloads/index.ts';

const DOCS = join(import.meta.dirname, '../../docs');
const USAGE = `usage: npm run bench:docs -- FILE…

Writes docs/figures.md and docs/plots from what runs found.

  FILE  one that npm run bench -- --json FILE wrote; of one run or of several`;

const { positionals: files } = argumentsOf({ usage: USAGE, options: {}, allowPositionals: true });
if (files.length === 0) wrongArguments('no file is named');

const results = files.map(
  (file) => JSON.parse(readFileSync(file, 'utf8')) as Results & { readonly plots: readonly Plot[] },
); // our own
const measures = new Map(WORKLOADS.map((workload) => [workload.name, workload.measures]));
writeFileSync(join(DOCS, 'figures.md'), figuresPage(results, measures));
mkdirSync(join(DOCS, 'plots'), { recursive: true });
for (const plot of results.flatMap(({ plots }) => plots))
  writeFileSync(join(DOCS, 'plots', `${plot.name}.svg`), svgOf(plot));
