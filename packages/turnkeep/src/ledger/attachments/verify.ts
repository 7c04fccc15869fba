import { shelfProblems, verifyShelf } from '../../core/attachments/verify.ts';
import type { Shelved } from '../../core/attachments/verify.ts';
import { isTurnkeepError } from '../../core/errors.ts';
import type { NamespaceId } from '../../core/ids.ts';
import type { Fault } from '../../core/fault.ts';
import { assertNotAborted } from '../../core/abort.ts';
import type { Access } from '../access.ts';
import { AttachmentContent } from './content.ts';

/** What was found about one attachment. */
export interface AttachmentCheck {
  readonly attachments: number;
  readonly faults: readonly Fault[];
}

/** Reads every attachment of a namespace, checks its bytes, and checks that rows and references agree; yields one result for each. */
export async function* verifyAttachments(
  access: Access,
  namespace: NamespaceId,
  signal: AbortSignal | undefined,
): AsyncGenerator<AttachmentCheck> {
  for (let after: string | null = ''; after !== null;) {
    const from: string = after;
    const { shelved, problems, next } = await access.read(namespace, (rows) => verifyShelf(rows, from));
    yield { attachments: 0, faults: problems.map(({ digest, reason }) => faultOf(namespace, digest, reason)) };
    for (const one of shelved) {
      assertNotAborted(signal);
      yield { attachments: 1, faults: await bytesFaults(access, namespace, one) };
    }
    after = next;
  }
  const whole = await access.read(namespace, shelfProblems);
  yield { attachments: 0, faults: whole.map((reason) => faultOf(namespace, undefined, reason)) };
}

async function bytesFaults(access: Access, namespace: NamespaceId, sealed: Shelved): Promise<readonly Fault[]> {
  try {
    // Read only for its checks.
    for await (const _ of new AttachmentContent(access, namespace, sealed, {}));
    return [];
  } catch (error) {
    // It was collected meanwhile.
    if (isTurnkeepError(error, 'attachment_missing')) return [];
    if (!isTurnkeepError(error, 'corrupt')) throw error;
    return [faultOf(namespace, sealed.digest, error.details.reason)];
  }
}

function faultOf(namespace: NamespaceId, digest: string | undefined, reason: string): Fault {
  const place = digest === undefined ? `namespace ${namespace}` : `namespace ${namespace}, attachment ${digest}`;
  return { kind: 'attachment', place, reason, affects: 'the bytes that messages refer to by this digest' };
}
