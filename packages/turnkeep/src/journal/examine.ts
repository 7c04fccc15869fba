import type { Finding } from '../core/finding.ts';
import type { ConversationId, NamespaceId } from '../core/ids.ts';
import { uncollectedFindings, unreadIn } from '../core/uncollected.ts';
import type { Processes } from '../platform/processes.ts';
import { readWhole } from './files/files.ts';
import { INDEX, NO_CONVERSATION, NO_NAMESPACE } from './index/index-keys.ts';
import { LAYOUT, TEMPORARY } from './files/layout.ts';
import { livingOwner } from './lock.ts';
import { FORMAT, findManifest } from './manifest.ts';
import { NamespaceRows } from './namespace-rows.ts';
import { pendingLines } from './upkeep/scrub.ts';
import type { StoreParts } from './store-parts.ts';

/** The format, who writes, and what waits for a person: losses that nobody accepted, and what was set aside. */
export function examineJournal(parts: StoreParts, processes: Processes): readonly Finding[] {
  return [
    ...examineManifest(parts),
    ...examineLocks(parts, processes),
    ...examineDamage(parts),
    ...examineErasures(parts),
  ];
}

function examineManifest({ fs, directory }: StoreParts): readonly Finding[] {
  const damaged = findManifest(fs, directory)?.damaged ?? [LAYOUT.manifest];
  const format: Finding = { check: 'format', status: 'ok', says: `format ${FORMAT}` };
  if (damaged.length === 0) return [format];
  const says = `${damaged.join(', ')}: damaged or missing; the other copy is whole`;
  return [format, { check: 'manifest', status: 'warning', says, advice: 'copy the whole one over it' }];
}

function examineLocks({ fs, directory }: StoreParts, processes: Processes): readonly Finding[] {
  const names = (fs.list(directory) ?? []).filter(
    (name) => name.startsWith(LAYOUT.lockPrefix) && !name.endsWith(TEMPORARY),
  );
  if (names.length === 0) return [{ check: 'lock', status: 'ok', says: 'nobody writes' }];
  return names.map((name): Finding => {
    const owner = livingOwner(processes, name, readWhole(fs, `${directory}/${name}`));
    if (owner) {
      const who = `process ${owner.pid} on ${owner.host}`;
      const self = owner.pid === processes.self().pid ? ', this one,' : '';
      return { check: 'lock', status: 'ok', says: `${who}${self} writes` };
    }
    const says = `${name} was left by a writer that ended without closing`;
    return { check: 'lock', status: 'warning', says, advice: 'the next writer takes it away by itself' };
  });
}

function examineDamage({ folds, damaged }: StoreParts): readonly Finding[] {
  const lost = folds.state.doubts.map(({ place, reason, from, to }): Finding => {
    const says = `${place}: lines ${from} to ${to} are lost (${reason})`;
    const advice = 'restore them from a backup, or accept the loss with turnkeep maintain --rebuild';
    return { check: 'lost', status: 'problem', says, advice };
  });
  const aside = damaged.list();
  if (aside.length === 0) return lost;
  const says = `${aside.length} of its places were set aside; ${LAYOUT.damaged}/report.jsonl lists them`;
  return [...lost, { check: 'set_aside', status: 'warning', says, advice: 'look at them; then they may go' }];
}

/** What was erased and stands where it cannot be read: a collection cannot take it out. */
function examineErasures(parts: StoreParts): readonly Finding[] {
  const { index, segments } = parts;
  const namespaces = index.scan(NO_NAMESPACE, NO_CONVERSATION, { from: INDEX.namespaceStart, to: INDEX.namespaceEnd });
  return namespaces.flatMap(({ key }): readonly Finding[] => {
    const namespace = key.slice(INDEX.namespaceStart.length);
    const lines = pendingLines(parts, namespace);
    const flawed = [...lines].flatMap(([segment, places]) =>
      places.filter(({ byte }) => segments.file(segment)?.flawAt(byte) !== undefined),
    );
    const rows = new NamespaceRows(parts, namespace);
    const unread = uncollected(parts, namespace).flatMap((conversationId) => {
      const { version = 0 } = index.head(namespace, conversationId) ?? {};
      return unreadIn(rows, { conversationId, version });
    });
    const places = [...unread, ...(flawed.length > 0 ? [`${flawed.length} lines to be scrubbed`] : [])];
    return uncollectedFindings(namespace, places, 'restore the damaged file from a backup');
  });
}

function uncollected({ index }: StoreParts, namespace: NamespaceId): readonly ConversationId[] {
  const range = { from: INDEX.uncollectedStart, to: INDEX.uncollectedEnd };
  return index.scan(namespace, NO_CONVERSATION, range).map(({ key }) => key.slice(INDEX.uncollectedStart.length));
}
