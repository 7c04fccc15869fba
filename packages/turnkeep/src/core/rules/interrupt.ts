import { z } from 'zod';
import type { Draft } from '../draft.ts';
import { TurnkeepError, assert } from '../errors.ts';
import type { InterruptId, TurnId } from '../ids.ts';
import { KEYS } from '../keys.ts';
import { packInterrupt, unpackInterrupt } from '../rows.ts';
import type { InterruptRow } from '../rows.ts';
import { code, id, json, personId, shortText } from '../shapes.ts';
import { closeInterrupt, markOpen } from './open-interrupts.ts';
import { none, one, untold } from './rule.ts';
import type { Rule } from './rule.ts';
import { assertCalledIn, turnAtWork } from './turn-at-work.ts';

/**
 * The life of an interrupt: `open → answered | expired`, or `withdrawn` with the end of its turn. The first end stands. It
 * needs no attempt and no open operation, and may stay open for months.
 */

const time = z.iso.datetime({ offset: true });

export const interruptRequest: Rule<'interrupt.request'> = {
  shape: z.strictObject({
    kind: z.literal('interrupt.request'),
    interruptId: id.optional(),
    turnId: id,
    type: code,
    callId: id.optional(),
    payload: json,
    expiresAt: time.optional(),
  }),
  complete: (change, mint) => ({ ...change, interruptId: change.interruptId ?? mint('int') }),
  records: one,
  apply(draft, change, path) {
    const { kind, turnId, type, callId, payload, expiresAt } = change;
    const interruptId = change.interruptId as InterruptId;
    const turn = turnAtWork(draft, turnId, path);
    assertCalledIn(draft, turn, callId);
    if (draft.get(KEYS.interruptId(interruptId))) throw new TurnkeepError('interrupt_exists', { interruptId });
    markOpen(draft, interruptId, path);
    const record = draft.addRecord({ payload }, `${path}.payload`);
    const row: InterruptRow = {
      turnId,
      status: 'open',
      type,
      callId: callId ?? null,
      request: { version: draft.version, index: record },
      expiresAt: expiresAt === undefined ? null : Date.parse(expiresAt),
      closedAt: null,
      answer: null,
    };
    draft.put(KEYS.interruptId(interruptId), [turnId]);
    draft.put(KEYS.interrupt(turnId, interruptId), packInterrupt(row));
    return { kind, interruptId, turnId, type, record };
  },
  leaves(left, { interruptId, turnId }) {
    left.here(KEYS.interruptId(interruptId), `the id of interrupt ${interruptId}`, ([at]) => at === turnId);
    left.here(KEYS.interrupt(turnId, interruptId), `interrupt ${interruptId}`);
  },
};

function interruptOf(draft: Draft, interruptId: InterruptId): InterruptRow {
  const turnId = draft.get(KEYS.interruptId(interruptId))?.[0] as TurnId | undefined;
  if (turnId === undefined) throw new TurnkeepError('no_interrupt', { interruptId });
  const value = draft.get(KEYS.interrupt(turnId, interruptId));
  assert(value, 'an interrupt that is known has its row');
  return unpackInterrupt(turnId, value);
}

/** An interrupt that nobody has ended. */
function openInterrupt(draft: Draft, interruptId: InterruptId): InterruptRow {
  const row = interruptOf(draft, interruptId);
  if (row.status !== 'open') throw new TurnkeepError('interrupt_closed', { interruptId, status: row.status });
  return row;
}

export const interruptAnswer: Rule<'interrupt.answer'> = {
  shape: z.strictObject({ kind: z.literal('interrupt.answer'), interruptId: id, by: personId, response: json }),
  records: one,
  apply(draft, change, path) {
    const { kind, interruptId, by, response } = change;
    const row = openInterrupt(draft, interruptId);
    const record = draft.addRecord({ by, response }, `${path}.response`);
    const answer = { version: draft.version, index: record };
    closeInterrupt(draft, interruptId, { ...row, status: 'answered', closedAt: draft.version, answer });
    return { kind, interruptId, turnId: row.turnId, record };
  },
  leaves: untold,
};

export const interruptExpire: Rule<'interrupt.expire'> = {
  shape: z.strictObject({ kind: z.literal('interrupt.expire'), interruptId: id }),
  records: none,
  apply(draft, change) {
    const { kind, interruptId } = change;
    const row = openInterrupt(draft, interruptId);
    if (row.expiresAt !== null && draft.envelope.now < row.expiresAt) {
      const expiresAt = new Date(row.expiresAt).toISOString();
      throw new TurnkeepError('interrupt_not_due', { interruptId, expiresAt });
    }
    closeInterrupt(draft, interruptId, { ...row, status: 'expired', closedAt: draft.version });
    return { kind, interruptId, turnId: row.turnId };
  },
  leaves: untold,
};

export const interruptRedact: Rule<'interrupt.redact'> = {
  shape: z.strictObject({ kind: z.literal('interrupt.redact'), interruptId: id, reason: shortText }),
  records: none,
  apply(draft, change) {
    const { kind, interruptId, reason } = change;
    const { request, answer, turnId } = interruptOf(draft, interruptId);
    const refs = [request, ...(answer ? [answer] : [])].map((ref) => ({ owner: draft.conversationId, ...ref }));
    const said = refs.filter((ref) => draft.record(ref).body !== null);
    for (const ref of said) draft.redact(ref, { reason, at: draft.envelope.now, role: 'user' });
    const event = { kind, interruptId, turnId };
    return said.length > 0 ? event : { ...event, noop: true };
  },
  leaves: untold,
};
