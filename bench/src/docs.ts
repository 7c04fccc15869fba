import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { figuresPage } from './report/markdown.ts';
import type { Results } from './report/markdown.ts';
import { svgOf } from './report/plot.ts';
import type { Plot } from './workload.ts';
import { WORKLOADS } from './workloads/index.ts';

/**
 * Writes docs/figures.md and docs/plots from what runs found:
 *
 *     npm run bench:docs -- FILE…    files that `npm run bench -- --json FILE` wrote, of one run or of several
 */
const DOCS = join(import.meta.dirname, '../../docs');
const files = process.argv.slice(2);
if (files.length === 0) {
  process.stderr.write('usage: npm run bench:docs -- FILE…, where `npm run bench -- --json FILE` wrote them\n');
  process.exit(2);
}

const results = files.map(
  (file) => JSON.parse(readFileSync(file, 'utf8')) as Results & { readonly plots: readonly Plot[] },
); // our own
const measures = new Map(WORKLOADS.map((workload) => [workload.name, workload.measures]));
writeFileSync(join(DOCS, 'figures.md'), figuresPage(results, measures));
mkdirSync(join(DOCS, 'plots'), { recursive: true });
for (const plot of results.flatMap(({ plots }) => plots))
  writeFileSync(join(DOCS, 'plots', `${plot.name}.svg`), svgOf(plot));
