import { createHash } from 'node:crypto';
import { prepareCommit } from 'turnkeep/core';
import type { Change, Envelope, Sha256 } from 'turnkeep/core';

export const sha256: Sha256 = (text) => createHash('sha256').update(text).digest('base64url');

export const NAMESPACE = 'crash';

/** Commits that are the same whenever they are made: by their names alone, nonces and time included. */
export function envelopeOf(conversationId: string, commitId: string, changes: readonly Change[]): Envelope {
  let nonces = 0;
  return prepareCommit(
    { commitId, namespace: NAMESPACE, conversationId, changes },
    {
      sha256,
      now: () => 1_700_000_000_000,
      nonce: () => sha256(`${commitId} ${nonces++}`).slice(0, 21) + 'A',
    },
  );
}

/** The k-th turn of a conversation: two messages, a checkpoint, a task. */
export function turnOf(conversationId: string, k: number): Envelope {
  const payload = { state: { json: { step: k } } };
  const says = (role: 'user' | 'assistant', at: number): Change => {
    const text = `${role} ${k} of ${conversationId}: ${'words and more '.repeat(1 + ((k * 7 + at) % 5))}\u2028`;
    return {
      kind: 'message.append',
      message: { messageId: `${conversationId}-${k}-${at}`, role, parts: [{ type: 'text', text }] },
    };
  };
  return envelopeOf(conversationId, `${conversationId}.${k}`, [
    { kind: 'turn.record', turnId: `${conversationId}-turn-${k}`, origin: 'background' },
    says('user', 1),
    says('assistant', 2),
    k === 0
      ? { kind: 'checkpoint.create', checkpointId: conversationId, type: 'agent', payload }
      : { kind: 'checkpoint.advance', checkpointId: conversationId, from: k - 1, payload },
    { kind: 'task.create', taskId: `${conversationId}-task-${k}`, title: 'answer' },
    { kind: 'task.transition', taskId: `${conversationId}-task-${k}`, to: 'failed' },
  ]);
}

export function erasureOf(conversationId: string): Envelope {
  return envelopeOf(conversationId, `${conversationId}.erase`, [{ kind: 'conversation.erase' }]);
}

export function redactionOf(conversationId: string, k: number): Envelope {
  const change: Change = { kind: 'message.redact', messageId: `${conversationId}-${k}-1`, reason: 'asked' };
  return envelopeOf(conversationId, `${conversationId}.redact.${k}`, [change]);
}
