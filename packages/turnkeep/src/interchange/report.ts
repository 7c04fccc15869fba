import type { Role } from '../core/message.ts';
import type { Damage, DamageKind } from './jsonl.ts';

/** Damage of a file, with its place. */
export interface DamageEntry {
  readonly line: number;
  readonly byte: number;
  readonly kind: DamageKind | 'not_a_record';
  readonly reason: string;
  readonly bytes: number;
}

/**
 * Where a file's order of records had to be guessed, or something of it has no place in the model:
 * - `missing_parent`, `cyclic_parent`, `self_parent`, `missing_logical_parent`: the record before it in the file stands in;
 * - `variant`: a record's id came with other content before, both are kept apart;
 * - `orphan_result`, `second_result`, `second_call`: kept as opaque parts, since nothing can pair with them;
 * - `empty_summary`, `summary_too_long`, `summary_without_prefix`, `summary_not_longer`, `boundary_without_summary`: a
 *   compaction that is kept as messages but covers nothing;
 * - `inexact_number`, `repeated_key`, `too_deep`: kept as the record's own text;
 * - `split`: larger than one record may be, continued in further messages;
 * - `foreign_session`: a record that another session wrote, copied into this one;
 * - `foreign_summary`: a title for a session of another file.
 */
export type NoteKind =
  | 'missing_parent'
  | 'cyclic_parent'
  | 'self_parent'
  | 'missing_logical_parent'
  | 'variant'
  | 'orphan_result'
  | 'second_result'
  | 'second_call'
  | 'empty_summary'
  | 'summary_too_long'
  | 'summary_without_prefix'
  | 'summary_not_longer'
  | 'boundary_without_summary'
  | 'inexact_number'
  | 'repeated_key'
  | 'too_deep'
  | 'split'
  | 'foreign_session'
  | 'foreign_summary';

export interface Note {
  readonly kind: NoteKind;
  readonly line: number;
  readonly byte: number;
  /** The source's own id of the record, where it has one. */
  readonly id?: string | undefined;
  /** What it is about: the missing parent's id, the call's id, the path of a number, … */
  readonly about?: string | undefined;
}

/** A tool call without a result: it stays open. */
export interface OpenCall {
  readonly line: number;
  readonly callId: string;
  readonly name: string;
}

/** What the store would not take, and why; the rest goes on. */
export interface Refusal {
  readonly conversationId: string;
  /** Lines of the records concerned. */
  readonly lines: readonly number[];
  readonly code: string;
  readonly message: string;
}

/**
 * The account of one file. Every line is one of blank, damaged or a record:
 * `lines === blank + damaged + records - salvaged`, and `records === imported + opaque + repeated + unusable`.
 */
export interface FileReport {
  readonly file: string;
  readonly bytes: number;
  readonly sessionId: string | null;
  readonly conversationIds: readonly string[];
  readonly lines: number;
  readonly blank: number;
  readonly damaged: number;
  /** Records read, salvaged ones included. */
  readonly records: number;
  /** Records found on damaged lines. */
  readonly salvaged: number;
  /** Records that became messages, titles and summaries of the model. */
  readonly imported: number;
  /** Records kept whole as opaque parts: bookkeeping of the tool, and kinds that are not known. */
  readonly opaque: number;
  /** Records that stand in the file before, equal. */
  readonly repeated: number;
  /** JSON that is no record, such as `42`; listed as damage of kind `not_a_record`. */
  readonly unusable: number;
  /** Records with an id of their own, by what became of them; all of `withId` are told. */
  readonly ids: {
    readonly withId: number;
    readonly imported: number;
    readonly opaque: number;
    readonly repeated: number;
  };
  readonly damage: readonly DamageEntry[];
  readonly notes: readonly Note[];
  readonly openCalls: readonly OpenCall[];
  /** Kinds of records that this version does not know, with how many came. */
  readonly unknownTypes: { readonly [type: string]: number };
}

/** The account of one conversation. */
export interface ConversationReport {
  readonly conversationId: string;
  readonly file: string;
  /** Messages by role, those that the store held already included. */
  readonly messages: { readonly [Name in Role]: number };
  readonly turns: number;
  readonly summaries: number;
  readonly title: string | null;
  readonly commits: number;
  /** Commits that the store held already. */
  readonly replayed: number;
}

/** A file that was left, and why. */
export interface LeftFile {
  readonly file: string;
  readonly reason: string;
}

export interface ImportReport {
  readonly files: readonly FileReport[];
  readonly conversations: readonly ConversationReport[];
  /** Files that are none of the format. */
  readonly ignored: readonly LeftFile[];
  /** Files and folders that could not be read, or not to their end: what lies in them was not taken, or not all of it. */
  readonly unread: readonly LeftFile[];
  readonly refused: readonly Refusal[];
}

/** What of a file is told while an import runs. */
export interface ImportProgress {
  readonly file: string;
  readonly filesDone: number;
  readonly files: number;
  readonly commits: number;
  readonly messages: number;
}

export function damageEntry(line: number, byte: number, damage: Damage): DamageEntry {
  return { line, byte, ...damage };
}
