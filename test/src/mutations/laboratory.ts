import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { mutated } from './mutation.ts';
import type { Mutation } from './mutation.ts';

/** The repository. This file runs from test/dist/mutations. */
const ROOT: string = join(import.meta.dirname, '../../..');
const LIBRARY = 'packages/turnkeep';

/** The compiled library. */
export const DIST: string = join(ROOT, LIBRARY, 'dist');

/** A mutation may turn a walk into an endless one. The slowest file of tests takes 3 s on a machine of its own. */
const PATIENCE_MS = 60_000;

/**
 * How the tests answered: red, as they must, or without an end, which is noticed too; green; not made at all; or broken so
 * that no test could even begin.
 */
export type Verdict = 'killed' | 'endless' | 'survived' | 'not_found' | 'does_not_load';

/** The test files that must turn red, below `dist`. */
export function testFilesOf(mutation: Mutation): readonly string[] {
  const [layer = '', ...below] = mutation.file.replace(/\.js$/, '').split('/');
  return (mutation.tests ?? [below.join('/')]).map((name) => `${layer}/${name}.test.js`);
}

/**
 * A copy of the compiled library to break: its tests run against the copy, and the original is never touched. One
 * mutation at a time; several laboratories may work side by side.
 */
export class Laboratory {
  readonly #folder: string = mkdtempSync(join(tmpdir(), 'turnkeep-mutations-'));

  constructor() {
    mkdirSync(join(this.#folder, LIBRARY), { recursive: true });
    cpSync(DIST, join(this.#folder, LIBRARY, 'dist'), { recursive: true });
    for (const file of ['vitest.config.mjs', 'scripts/property-seed.mjs', join(LIBRARY, 'package.json')]) {
      cpSync(join(ROOT, file), join(this.#folder, file));
    }
    this.#linkPackages('.');
    this.#linkPackages(LIBRARY);
  }

  /** Every installed package but our own, which is the copy. */
  #linkPackages(folder: string): void {
    const from = join(ROOT, folder, 'node_modules');
    const to = join(this.#folder, folder, 'node_modules');
    mkdirSync(to);
    for (const name of namesIn(from)) {
      if (name !== 'turnkeep' && name !== '@turnkeep') symlinkSync(join(from, name), join(to, name), 'junction');
    }
  }

  /** Makes the mutation, runs its tests, and puts the file back. */
  async try(mutation: Mutation): Promise<Verdict> {
    const file = join(this.#folder, LIBRARY, 'dist', mutation.file);
    const whole = readFileSync(file, 'utf8');
    const broken = mutated(whole, mutation);
    if (broken === undefined) return 'not_found';
    writeFileSync(file, broken);
    try {
      return await this.run(testFilesOf(mutation));
    } finally {
      writeFileSync(file, whole);
    }
  }

  /** Runs test files on the copy as it is, until one test fails. */
  async run(files: readonly string[]): Promise<Verdict> {
    const report = join(this.#folder, 'report.json');
    rmSync(report, { force: true });
    const paths = files.map((file) => join(LIBRARY, 'dist', file));
    const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
    const quiet = ['--bail=1', '--no-file-parallelism', '--reporter=json', `--outputFile=${report}`];
    const status = await finished(process.execPath, [vitest, 'run', ...quiet, ...paths], this.#folder);
    if (status === 'overdue') return 'endless';
    const { numFailedTests, numPassedTests } = JSON.parse(readFileSync(report, 'utf8')) as {
      readonly numFailedTests: number;
      readonly numPassedTests: number;
    }; // vitest's own report
    if (numFailedTests > 0) return 'killed';
    return status === 0 && numPassedTests > 0 ? 'survived' : 'does_not_load';
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name !== '.vite' && name !== '.package-lock.json');
  } catch {
    return []; // nothing is installed there
  }
}

/** The exit status, or `overdue` where the program had to be ended with all that it started. */
function finished(program: string, args: readonly string[], cwd: string): Promise<number | null | 'overdue'> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, stdio: 'ignore', detached: true });
    let isOverdue = false;
    const timer = setTimeout(() => {
      isOverdue = true;
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, PATIENCE_MS);
    child.on('error', reject);
    child.on('exit', (status) => {
      clearTimeout(timer);
      resolve(isOverdue ? 'overdue' : status);
    });
  });
}

/** The name of a mutation's file as a table shows it. */
export function shortName(file: string): string {
  return join(basename(dirname(file)), basename(file, '.js')).replaceAll('\\', '/');
}
