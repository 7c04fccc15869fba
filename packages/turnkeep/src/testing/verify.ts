import type { Backend, RowReader } from '../core/backend.ts';
import { chainAfter, chainStart, recordHolds } from '../core/digest.ts';
import type { ConversationId, NamespaceId } from '../core/ids.ts';
import { sha256 } from '../platform/hash.ts';
import { holds, same } from './check.ts';
import { conversationsIn } from './export.ts';

/**
 * Walks every log of a namespace: no version is missing, every digest is that of its bytes, and the chain over them ends
 * where the head says, whatever was redacted or erased since.
 */
export async function assertChains(backend: Backend, namespace: NamespaceId): Promise<void> {
  await backend.read(namespace, (rows) => {
    for (const conversation of conversationsIn(rows)) assertChain(rows, conversation);
  });
}

function assertChain(rows: RowReader, conversation: ConversationId): void {
  const head = rows.head(conversation);
  holds(head, `conversation ${conversation} is listed and has no head`);
  let chain = chainStart(sha256, conversation);
  for (let version = 1; version <= head.version; version++) {
    const log = rows.log(conversation, version);
    const place = `version ${version} of ${conversation}`;
    holds(log, `${place} is missing`);
    same(log.version, version, `the version that ${place} says`);
    if (log.header !== null) same(sha256(log.header), log.headerDigest, `the digest of the header of ${place}`);
    for (const record of log.records) {
      if (record.body === null) same(record.nonce, null, `the nonce of words of ${place} that are gone`);
      else holds(recordHolds(sha256, record), `a record of ${place} is not that of its digest`);
    }
    chain = chainAfter(sha256, chain, log);
  }
  same(chain, head.chain, `the chain of ${conversation}`);
  same(rows.log(conversation, head.version + 1), undefined, 'a log beyond the head');
}
