import type { NamespaceId } from '../../core/ids.ts';
import type { Access } from '../access.ts';
import { abortSignal, anything } from '../given.ts';
import type { Checks } from '../given.ts';
import { sweepScratch } from './scratch.ts';

export interface CollectOptions {
  /** How long an attachment that nothing refers to yet is held, in milliseconds; a day when absent. */
  readonly attachmentGraceMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What a collection removed. */
export interface Collected {
  readonly rows: number;
  readonly attachments: number;
}

export const COLLECT: Checks<CollectOptions> = { attachmentGraceMs: anything, signal: abortSignal };

const ATTACHMENT_GRACE_MS = 86_400_000;

/** Removes what erased conversations still hold, in the log and beside it, then attachments that no words refer to any more. */
export async function collectNamespace(
  access: Access,
  namespace: NamespaceId,
  { signal, attachmentGraceMs: graceMs = ATTACHMENT_GRACE_MS }: CollectOptions,
): Promise<Collected> {
  const { backend, surroundings } = access;
  const rows = await backend.collect(namespace, signal);
  await sweepScratch(access, namespace);
  const attachments = await backend.attachments.collect(namespace, { now: surroundings.now(), graceMs }, signal);
  return { rows, attachments };
}
