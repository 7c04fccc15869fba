import { TurnkeepError } from '../core/errors.ts';
import { readWhole, replaceFile } from './files/files.ts';
import type { FileSystem } from './files/file-system.ts';
import { LAYOUT, TEMPORARY } from './files/layout.ts';
import { seal, unseal } from './files/sealed.ts';

/** The format that this code reads and writes. */
export const FORMAT = 1;

export interface Manifest {
  readonly format: number;
  /** Chance, in base64url: every line carries it, so that no line of another store passes for one of this. */
  readonly store: string;
}

interface Found {
  readonly manifest: Manifest;
  /** A copy of the manifest that is damaged or missing. */
  readonly damaged: readonly string[];
}

const COPIES = [LAYOUT.manifest, LAYOUT.manifestCopy];
const OURS = '{"sha":"';

/**
 * The manifest of a directory, or `undefined` where there is no store yet. Refuses, and touches nothing: another program's
 * directory (`store_foreign`), a newer format (`store_newer`), a manifest whose two copies are damaged or of different stores (`corrupt`).
 */
export function findManifest(fs: FileSystem, directory: string): Found | undefined {
  const names = fs.list(directory) ?? [];
  const contents = COPIES.map((name) => readWhole(fs, `${directory}/${name}`));
  const manifests = contents.map((bytes) => bytes && manifestIn(bytes));
  const manifest = manifests.find((found) => found !== undefined);
  const place = `${directory}/${LAYOUT.manifest}`;
  if (manifest) {
    assertFormat(directory, manifest);
    if (manifests.some((other) => other && other.store !== manifest.store))
      throw new TurnkeepError('corrupt', { place, reason: 'the two copies of the manifest are of different stores' });
    return { manifest, damaged: COPIES.filter((_, at) => manifests[at] === undefined) };
  }
  const isOurs = contents.some((bytes) => bytes?.toString('latin1', 0, OURS.length) === OURS);
  if (isOurs) throw new TurnkeepError('corrupt', { place, reason: 'both copies of the manifest are damaged' });
  if (names.every(isOfUnfinishedStart)) return undefined;
  const reason = 'the directory is not empty and holds no manifest of a journal';
  throw new TurnkeepError('store_foreign', { place: directory, reason });
}

/** The manifest in a file; another sealed file in its place is none. */
function manifestIn(bytes: Buffer): Manifest | undefined {
  const found = unseal(bytes) as Partial<Manifest> | undefined;
  return typeof found?.format === 'number' && typeof found.store === 'string' ? (found as Manifest) : undefined;
}

function assertFormat(directory: string, { format }: Manifest): void {
  if (format === FORMAT) return;
  const place = `${directory}/${LAYOUT.manifest}`;
  throw new TurnkeepError('store_newer', { place, found: format, supported: FORMAT });
}

/** What a start that a crash cut short may leave before it wrote the manifest. */
function isOfUnfinishedStart(name: string): boolean {
  return (
    name.startsWith(LAYOUT.lockPrefix) || name === LAYOUT.unclean || COPIES.some((copy) => name === copy + TEMPORARY)
  );
}

/** Writes both copies, first the one that is asked last: a directory with the first one is complete. */
export async function writeManifest(fs: FileSystem, directory: string, manifest: Manifest): Promise<void> {
  const bytes = Buffer.from(seal(manifest));
  for (const name of COPIES.toReversed()) await replaceFile(fs, directory, name, bytes);
}
