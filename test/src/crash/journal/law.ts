import type { Backend, Envelope, RowReader } from 'turnkeep/core';
import { MemoryBackend } from 'turnkeep/memory';
import { Ledger } from '../../../../packages/turnkeep/dist/ledger/ledger.js';
import { NAMESPACE, sha256 } from './turns.ts';

/**
 * The law. An acknowledged commit is whole; one that was refused is not there; of those whose outcome nobody knows each is
 * whole or not there at all; nothing else is there. And all that is there together is exactly what the reference holds
 * after the same commits.
 */
export interface Sent {
  /** Every commit that was sent, by its id. */
  readonly envelopes: ReadonlyMap<string, Envelope>;
  readonly acknowledged: ReadonlySet<string>;
  readonly refused: ReadonlySet<string>;
}

const EVERYTHING = 1_000_000;

/** The ids of the commits that a store holds, in the order of its feed; of erased ones what the sender knows. */
export async function commitsIn(backend: Backend, sent: Sent): Promise<readonly string[]> {
  const bySender = new Map([...sent.envelopes.values()].map((one) => [one.commit.commitId, one]));
  const feed = await backend.feed(NAMESPACE, 0, EVERYTHING);
  return backend.read(NAMESPACE, (rows) =>
    feed.map(({ conversationId, version }) => {
      const digest = rows.log(conversationId, version)?.headerDigest;
      const header = rows.log(conversationId, version)?.header ?? null;
      if (header !== null) return (JSON.parse(header) as { readonly commitId: string }).commitId; // core's own header
      const known = [...bySender.keys()].filter((id) => id.startsWith(`${conversationId}.`));
      return known[version - 1] ?? `unknown with the header ${digest}`;
    }),
  );
}

/** What speaks against a store, as sentences; none where all is well. */
export async function breaches(backend: Backend, sent: Sent): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const { kind, place, reason } of await backend.verify())
    if (kind !== 'set_aside') faults.push(`verify reports ${kind} at ${place}: ${reason}`);
  const held = await commitsIn(backend, sent);
  const set = new Set(held);
  if (set.size !== held.length) faults.push('a commit is there twice');
  for (const id of sent.acknowledged) if (!set.has(id)) faults.push(`the acknowledged commit ${id} is lost`);
  for (const id of sent.refused) if (set.has(id)) faults.push(`the refused commit ${id} is there`);
  for (const id of set) if (!sent.envelopes.has(id)) faults.push(`the commit ${id} was never sent`);
  if (faults.length > 0) return faults;
  const reference = await referenceOf(held, sent);
  await reference.collect(NAMESPACE);
  await backend.collect(NAMESPACE);
  if ((await contents(backend)) !== (await contents(reference)))
    faults.push('the store differs from the reference after the same commits');
  for (const text of SEARCHED)
    if ((await hits(backend, text)) !== (await hits(reference, text)))
      faults.push(`a search for ${text} finds something else`);
  return faults;
}

/** What nearly all turns say, what a few do, and what none does. */
const SEARCHED = ['words and more', 'user 1 of b', 'no such words'];

/** The hits of a search, as text. */
async function hits(backend: Backend, text: string): Promise<string> {
  const surroundings = { sha256, now: () => 0, nonce: () => '' };
  const space = new Ledger(backend, surroundings, () => '').namespace(NAMESPACE);
  const found: string[] = [];
  for (let after: string | undefined; ;) {
    const page = await space.search(text, { limit: 100, after });
    found.push(...page.hits.map(({ conversationId, messageId }) => `${conversationId} ${messageId}`));
    if (page.next === null) return found.join();
    after = page.next;
  }
}

async function referenceOf(held: readonly string[], sent: Sent): Promise<MemoryBackend> {
  const memory = new MemoryBackend(sha256);
  for (const id of held) {
    const envelope = sent.envelopes.get(id);
    if (envelope) await memory.commit(envelope);
  }
  return memory;
}

/** Everything that the namespace holds, as text. */
export async function contents(backend: Backend): Promise<string> {
  return backend.read(NAMESPACE, (rows) =>
    rows
      .heads({ order: 'created', limit: EVERYTHING })
      .map((head) => conversationText(rows, head.conversationId, head.version))
      .join('\n'),
  );
}

function conversationText(rows: RowReader, id: string, version: number): string {
  // Which tier a commit is of depends on when it was cooled, and on nothing else.
  const logs = Array.from({ length: version }, (_, at) => ({ ...rows.log(id, at + 1), tier: undefined }));
  return JSON.stringify([rows.head(id), rows.scan(id, { from: '', to: '\u{10ffff}' }), logs]);
}
