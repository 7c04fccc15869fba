import { createHash } from 'node:crypto';
import type { Change, Commit, Part } from 'turnkeep/core';
import type { Conversation, Words } from './model.ts';
import { visibleMessages } from './path.ts';

/** The files of a random history. */
export const FILES: readonly Buffer[] = ['one', 'two', 'three', 'four'].map((text) => Buffer.from(text));

export const DIGESTS: readonly string[] = FILES.map((bytes) => createHash('sha256').update(bytes).digest('hex'));

/** Before a commit a file is put, by its number, or what nothing refers to is collected. */
export type Shelving = { readonly put: number } | 'collect';

/** A commit whose id says so shows a file as well: sent again, it shows it again. */
export function withFile(commit: Commit): Commit {
  const number = Number(commit.commitId.slice(1));
  if (!Number.isInteger(number) || number % 4 !== 0) return commit;
  const digest = DIGESTS[(number / 4) % DIGESTS.length] ?? '';
  const file: Part = { type: 'file', mediaType: 'text/plain', source: { attachment: digest } };
  return { ...commit, changes: commit.changes.map((change) => showing(change, file)) };
}

function showing(change: Change, file: Part): Change {
  switch (change.kind) {
    case 'message.append':
      return { ...change, message: { ...change.message, parts: [...change.message.parts, file] } };
    case 'turn.submit':
    case 'input.enqueue':
      return change.prompt ? { ...change, prompt: [...change.prompt, file] } : change;
    case 'message.redact':
      return change.replacement ? { ...change, replacement: [...change.replacement, file] } : change;
    default:
      return change;
  }
}

/** The files that parts name, each with the path of its place. */
export function filesIn(parts: unknown, path: string): readonly { readonly digest: string; readonly path: string }[] {
  if (!Array.isArray(parts)) return [];
  return (parts as readonly Part[]).flatMap((part, at) =>
    part.type === 'file' && 'attachment' in part.source
      ? [{ digest: part.source.attachment, path: `${path}[${at}].source.attachment` }]
      : [],
  );
}

/** The files that anybody who lives can still see the words of, or has yet to be told. */
export function filesReferredTo(living: readonly Conversation[]): ReadonlySet<string> {
  const words = living.flatMap((conversation) => [
    ...visibleMessages(conversation).flatMap((message) => [
      message.words,
      message.words.redaction?.replacement ?? null,
    ]),
    ...[...conversation.inputs.values()].map((input) => input.words),
  ]);
  return new Set(
    words.flatMap((each: Words | null) => filesIn(each?.content?.['parts'], '').map(({ digest }) => digest)),
  );
}
