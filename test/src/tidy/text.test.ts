import { expect, test } from 'vitest';
import { lineCount, repositoryFiles, textOf } from './files.ts';

const MAX_FILE_LINES = 600;
const MAX_README_LINES = 120;

const written = repositoryFiles().filter((path) => /\.(ts|mjs|json|md|sh)$|^\.ci\//.test(path));
const code = written.filter((path) => path.endsWith('.ts'));

test('no source file is longer than a reader bears', () => {
  expect(code.filter((path) => lineCount(textOf(path)) > MAX_FILE_LINES)).toEqual([]);
});

test('the README stays within its length', () => {
  expect(lineCount(textOf('README.md'))).toBeLessThanOrEqual(MAX_README_LINES);
});

test('no file names a folder of the machine that it was written on', () => {
  const machinePath = /(?<![\w.@:-])\/(?:root|home|Users|work|workspace|var\/folders|tmp\/\w)[/\w.-]*/;
  const found = written.flatMap((path) => {
    const match = machinePath.exec(textOf(path));
    return match === null ? [] : [`${path}: ${match[0]}`];
  });
  expect(found).toEqual([]);
});

test('the lockfile names no host that packages came from', () => {
  expect(textOf('package-lock.json')).toMatch(/"lockfileVersion": 3/);
  expect(textOf('package-lock.json')).not.toMatch(/"resolved": "\w+:/);
});

test('dependencies are pinned to one version each', () => {
  const manifests = written.filter((path) => path.endsWith('package.json')).map(textOf);
  const ranges = manifests.flatMap((text) => {
    const manifest = JSON.parse(text) as Record<string, Record<string, string> | undefined>; // our own files
    const pinned = { ...manifest['dependencies'], ...manifest['optionalDependencies'], ...manifest['devDependencies'] };
    return Object.entries(pinned).filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version));
  });
  expect(ranges).toEqual([]);
});

test('every command of the README and of docs/ is a script of package.json', () => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }; // our own file
  const unknown = written
    .filter((path) => path === 'README.md' || path.startsWith('docs/'))
    .flatMap((path) => [...textOf(path).matchAll(/\bnpm (?:run )?(start|test|(?<=run )[\w:-]+)/g)])
    .filter(([, name]) => name === undefined || scripts[name] === undefined)
    .map(([command]) => command);
  expect(unknown).toEqual([]);
});
