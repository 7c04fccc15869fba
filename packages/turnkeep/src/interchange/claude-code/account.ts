import type { NewMessage, Role } from '../../core/message.ts';
import type { ConversationReport, FileReport, Note } from '../report.ts';
import type { ConversationSource } from './conversation.ts';
import type { Row } from './row.ts';
import type { SessionFile } from './session-file.ts';

/** The account of a file that was read. */
export function fileReport(
  name: string,
  file: SessionFile,
  conversations: readonly ConversationSource[],
  notes: readonly Note[],
): FileReport {
  const { counts, repeated, unusable, damage, unknownTypes, sessionId } = file;
  const titled = new Set(file.titles.map(({ row }) => row));
  const isOpaque = (row: Row) => isKeptWhole(row, conversations) && !titled.has(row);
  const opaque = file.rows.filter(isOpaque);
  const withId = file.rows.filter((row) => row.uuid !== undefined).length;
  const opaqueWithId = opaque.filter((row) => row.uuid !== undefined).length;
  return {
    file: name,
    ...counts,
    sessionId,
    conversationIds: conversations.map(({ conversationId }) => conversationId),
    imported: file.rows.length - opaque.length,
    opaque: opaque.length,
    repeated: repeated.rows,
    unusable,
    ids: {
      withId: withId + repeated.withId,
      imported: withId - opaqueWithId,
      opaque: opaqueWithId,
      repeated: repeated.withId,
    },
    damage,
    notes: [...file.notes, ...foreignSessions(file), ...conversations.flatMap((one) => one.notes), ...notes].sort(
      (left, right) => left.line - right.line,
    ),
    openCalls: conversations.flatMap((one) => one.openCalls),
    unknownTypes,
  };
}

/** True where no part of the model says what the row says. */
function isKeptWhole(row: Row, conversations: readonly ConversationSource[]): boolean {
  if (row.kind === 'side') return row.type !== 'system' || !row.hasText;
  if (row.kind !== 'result') return false;
  const unpaired = conversations.map(({ tree }) => tree.unpaired.get(row)).find((set) => set !== undefined);
  return row.answers.every((id) => unpaired?.has(id));
}

/** Rows that another session wrote, one note for each such session. */
function foreignSessions(file: SessionFile): readonly Note[] {
  const first = new Map<string, { readonly row: Row; count: number }>();
  for (const row of file.rows) {
    if (row.sessionId === undefined || row.sessionId === file.sessionId) continue;
    const entry = first.get(row.sessionId) ?? { row, count: 0 };
    entry.count += 1;
    first.set(row.sessionId, entry);
  }
  return [...first].map(([sessionId, { row, count }]) => ({
    kind: 'foreign_session' as const,
    line: row.line,
    byte: row.byte,
    id: row.uuid,
    about: `${sessionId}: ${count} rows`,
  }));
}

/** Counts what of a conversation was committed. */
export class ConversationAccount {
  readonly #source: ConversationSource;
  readonly #messages: { [Name in Role]: number } = { user: 0, assistant: 0, system: 0, developer: 0, tool: 0 };
  #commits = 0;
  #replayed = 0;

  constructor(source: ConversationSource) {
    this.#source = source;
  }

  add(messages: readonly NewMessage[], replayed: boolean): void {
    this.#commits += 1;
    if (replayed) this.#replayed += 1;
    for (const { role } of messages) this.#messages[role] += 1;
  }

  report(turns: number, summaries: number): ConversationReport {
    const { conversationId, file, title } = this.#source;
    const shared = { conversationId, file: file.source.name, messages: this.#messages, turns, summaries };
    return { ...shared, title: title?.text ?? null, commits: this.#commits, replayed: this.#replayed };
  }
}
