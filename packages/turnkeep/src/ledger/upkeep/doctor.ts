import type { Backend } from '../../core/backend.ts';
import { isTurnkeepError } from '../../core/errors.ts';
import type { Finding } from '../../core/finding.ts';
import { examineFolder, examineNode } from '../../platform/examine-system.ts';
import { systemSurroundings } from '../../platform/surroundings.ts';
import { examineBackend } from './examine-backend.ts';
import type { Examination } from './examine-backend.ts';
import { folderOf, openBackend } from '../open.ts';
import type { OpenOptions } from '../open.ts';

/**
 * Checks everything that a store needs, whether or not it can be opened: the program, the folder, the lock, the format, the
 * sync, the clock. It never creates a store, and changes an existing one no more than opening it does.
 */
export async function examineStore(url: string, options: OpenOptions = {}): Promise<Examination> {
  const findings: Finding[] = [examineNode()];
  const place = folderOf(url);
  if (place) findings.push(...(await examineFolder(place)));
  findings.push(...(await examineOpening(url, options)));
  return { findings, isHealthy: findings.every(({ status }) => status !== 'problem') };
}

async function examineOpening(url: string, options: OpenOptions): Promise<readonly Finding[]> {
  const { surroundings = systemSurroundings } = options;
  try {
    const { backend, note } = await openBeside(url, { ...options, mustExist: true });
    try {
      return [note, ...(await examineBackend(backend, surroundings))];
    } finally {
      await backend.close();
    }
  } catch (error) {
    if (!isTurnkeepError(error)) throw error;
    return [{ check: 'opening', status: 'problem', says: error.message }];
  }
}

/** If another process writes to a store, it is opened for reading where that is possible. */
async function openBeside(
  url: string,
  options: OpenOptions,
): Promise<{ readonly backend: Backend; readonly note: Finding }> {
  try {
    return { backend: await openBackend(url, options), note: { check: 'opening', status: 'ok', says: 'it opens' } };
  } catch (error) {
    if (!isTurnkeepError(error, 'store_locked')) throw error;
    const backend = await openBackend(url, { ...options, readOnly: true });
    const says = `it opens to be read; ${error.details.owner} writes to it (${error.details.place})`;
    return { backend, note: { check: 'opening', status: 'ok', says } };
  }
}
