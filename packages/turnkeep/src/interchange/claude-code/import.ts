import type { Commit } from '../../core/change.ts';
import { assertNamespaceId } from '../../core/ids.ts';
import { anObject, assertChecked, assertFits } from '../../ledger/given.ts';
import { Namespace } from '../../ledger/namespace.ts';
import { bufferedSource } from '../byte-source.ts';
import type { ConversationReport, FileReport, ImportReport, LeftFile, Refusal } from '../report.ts';
import { assertGoesOn, holdsCommit, replayOf, send } from '../target.ts';
import { namespaceTarget } from '../namespace-target.ts';
import type { ImportTarget } from '../target.ts';
import { openFile } from '../../platform/byte-source.ts';
import type { ByteSource } from '../../platform/byte-source.ts';
import { ConversationAccount, fileReport } from './account.ts';
import { ConversationCommits } from './commits.ts';
import type { Answer, CommitStep, CommitSteps } from './commits.ts';
import { conversationIdOf, conversationsOf } from './conversation.ts';
import type { ConversationSource, ParentSession } from './conversation.ts';
import { assertSource, IMPORT_CHECKS, PLAN_CHECKS, targetName } from './given.ts';
import type { ImportOptions, PlanOptions } from './given.ts';
import { heldRows } from './held.ts';
import type { HeldRows, RecognisedRows } from './held.ts';
import { isBookkeeping } from './row.ts';
import { readSessionFile, SourceChanged } from './session-file.ts';
import type { SessionFile } from './session-file.ts';
import { findSessions, reasonOf } from './sessions.ts';
import type { SessionPath } from './sessions.ts';

/** Paths of files and folders, or the bytes of one session file. */
export type ClaudeCodeSource = readonly string[] | AsyncIterable<Uint8Array>;

/** A commit as an import into a store without these conversations makes it. */
export interface PlannedCommit {
  readonly file: string;
  readonly commit: Commit;
  /** The lines of the rows that it carries. */
  readonly lines: readonly number[];
}

/**
 * The commits that an import of these sessions makes, in their order; the report is the generator's return value. What
 * they expect of the store is what a store that has none of these conversations answers.
 */
export async function* planClaudeCode(
  source: ClaudeCodeSource,
  options: PlanOptions,
): AsyncGenerator<PlannedCommit, ImportReport> {
  assertChecked(options, PLAN_CHECKS);
  assertNamespaceId(options.namespace, 'options.namespace');
  assertSource(source);
  const run = new ImportRun(options.namespace, options);
  for await (const { source: conversation, commits, account } of run.conversations(source)) {
    const store = new PredictedStore();
    const steps = run.stepsOf(conversation, commits.steps(undefined));
    for (let next = await steps.next(); !next.done;) {
      const { ask, commit, rows, messages } = next.value;
      const isCommit = ask === 'commit' || ask === 'next';
      if (isCommit) {
        account.add(messages, false);
        yield { file: conversation.file.source.name, commit, lines: rows.map((row) => row.line) };
      }
      next = await steps.next(isCommit ? store.answer(commit) : { holds: false });
    }
  }
  return run.report();
}

/**
 * Imports sessions: files, or folders at any depth. The same sessions imported again change nothing; a session that has
 * grown gets what is new; two imports at the same time end as one. What the store refuses for good is reported and the
 * rest goes on; what may succeed later (`store_busy`, …) is thrown, and the import can be sent again as a whole. They go into
 * a namespace of an open ledger (`ledger.namespace('acme')`), or into a store of another kind through three calls.
 */
export async function importClaudeCode(
  into: Namespace | ImportTarget,
  source: ClaudeCodeSource,
  options: ImportOptions = {},
): Promise<ImportReport> {
  assertFits(into, anObject, 'target');
  const target = into instanceof Namespace ? namespaceTarget(into) : into;
  assertFits(target.namespace, targetName, 'target.namespace');
  assertNamespaceId(target.namespace, 'target.namespace');
  assertChecked(options, IMPORT_CHECKS);
  assertSource(source);
  const run = new ImportRun(target.namespace, options);
  for await (const { source: conversation, commits, account } of run.conversations(source)) {
    const head = await target.head(conversation.conversationId);
    const steps = run.stepsOf(conversation, commits.steps(head));
    for (let next = await steps.next(); !next.done;) {
      const answer = await answerOf(target, conversation, next.value, options.signal);
      if ('receipt' in answer || next.value.ask === 'counts') {
        account.add(next.value.messages, !('receipt' in answer) || answer.receipt.replayed);
        run.progress(next.value);
      }
      next = await steps.next(answer);
    }
  }
  return run.report();
}

async function answerOf(
  target: ImportTarget,
  source: ConversationSource,
  step: CommitStep,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  assertGoesOn(signal);
  switch (step.ask) {
    case 'commit':
    case 'next':
      return send(target, step.commit, { signal, mustBeNext: step.ask === 'next' });
    case 'replay':
      return replayOf(target, step.commit);
    case 'holds':
      return { holds: await holdsCommit(target, step.commit) };
    case 'rows':
      return { held: await heldOf(target, source, step.recognised ?? NOTHING) };
    default:
      return { holds: true };
  }
}

const NOTHING: RecognisedRows = { rows: new Set(), messageIds: new Set() };

async function heldOf(
  target: ImportTarget,
  source: ConversationSource,
  recognised: RecognisedRows,
): Promise<HeldRows | undefined> {
  const messages = target.messages?.(source.conversationId, recognised.messageIds);
  return messages && heldRows(source, messages, recognised);
}

/** A conversation at work. */
interface Work {
  readonly source: ConversationSource;
  readonly commits: ConversationCommits;
  readonly account: ConversationAccount;
}

/** One import: its files one after the other, and its account. */
class ImportRun {
  readonly #namespace: string;
  readonly #options: ImportOptions;
  readonly #files: FileReport[] = [];
  readonly #conversations: ConversationReport[] = [];
  readonly #ignored: LeftFile[] = [];
  readonly #unread = new Map<string, LeftFile>();
  readonly #refused: Refusal[] = [];
  /** Sessions by conversation, for the links of their sub-agents. */
  readonly #sessions = new Map<string, ParentSession>();
  #file = '';
  #fileCount = 0;
  #filesDone = 0;
  #commits = 0;
  #messages = 0;

  constructor(namespace: string, options: ImportOptions) {
    this.#namespace = namespace;
    this.#options = options;
  }

  async *conversations(source: ClaudeCodeSource): AsyncGenerator<Work> {
    if (!isPaths(source)) {
      this.#fileCount = 1;
      yield* this.#fileOf(await bufferedSource('(stream)', source), undefined);
      return;
    }
    const { sessions, ignored, unread } = await findSessions(source);
    for (const left of ignored) this.#ignored.push(left);
    for (const left of unread) this.#unread.set(left.file, left);
    this.#fileCount = sessions.length;
    for (const session of sessions) {
      assertGoesOn(this.#options.signal);
      yield* this.#path(session);
      this.#filesDone += 1;
    }
  }

  async *#path(session: SessionPath): AsyncGenerator<Work> {
    let source: ByteSource | undefined;
    try {
      source = await openFile(session.path);
      yield* this.#fileOf(source, session);
    } catch (error) {
      this.#leave(session.path, error);
    } finally {
      await source?.close();
    }
  }

  /** The steps of a conversation, which end where its file cannot be read any more. */
  async *stepsOf({ file }: ConversationSource, steps: CommitSteps): CommitSteps {
    try {
      yield* steps;
    } catch (error) {
      this.#leave(file.source.name, error);
    }
  }

  /** Tells of a file that could not be read; throws again what is not the file's fault. */
  #leave(file: string, error: unknown): void {
    if (!isOfTheFile(error)) throw error;
    this.#unread.set(file, { file, reason: reasonOf(error) });
  }

  async *#fileOf(source: ByteSource, path: SessionPath | undefined): AsyncGenerator<Work> {
    this.#file = source.name;
    const stem = path?.agent === undefined ? path?.stem : undefined;
    const file = await readSessionFile(source, stem, this.#options);
    if (!isSession(file)) {
      const other = otherKind(await source.slice(0, Math.min(4, source.sizeBytes)));
      const reason = `it holds no row of a Claude Code session${other === undefined ? '' : `: ${other}`}`;
      this.#ignored.push({ file: source.name, reason });
      this.#files.push(
        fileReport(source.name, { ...file, rows: [], unusable: file.unusable + file.rows.length }, [], []),
      );
      return;
    }
    const parent = file.sessionId === null ? undefined : this.#sessions.get(conversationIdOf(file.sessionId));
    const agentParent = path?.agent === undefined ? undefined : parent;
    const conversations = conversationsOf(file, path?.agent, agentParent);
    this.#remember(file, path);
    const notes = [];
    for (const conversation of conversations) {
      const commits = new ConversationCommits(conversation, this.#namespace);
      const account = new ConversationAccount(conversation);
      yield { source: conversation, commits, account };
      notes.push(...commits.notes);
      this.#refused.push(...commits.refused);
      this.#conversations.push(account.report(commits.turns, commits.summaries));
    }
    this.#files.push(fileReport(source.name, file, conversations, notes));
  }

  #remember(file: SessionFile, path: SessionPath | undefined): void {
    if (file.sessionId === null || path?.agent !== undefined) return;
    const conversationId = conversationIdOf(file.sessionId);
    this.#sessions.set(conversationId, { conversationId, hints: file.hints });
  }

  progress({ messages }: CommitStep): void {
    this.#commits += 1;
    this.#messages += messages.length;
    const { onProgress } = this.#options;
    onProgress?.({
      file: this.#file,
      filesDone: this.#filesDone,
      files: this.#fileCount,
      commits: this.#commits,
      messages: this.#messages,
    });
  }

  report(): ImportReport {
    return {
      files: this.#files,
      conversations: this.#conversations,
      ignored: this.#ignored,
      unread: [...this.#unread.values()],
      refused: this.#refused,
    };
  }
}

function isPaths(source: ClaudeCodeSource): source is readonly string[] {
  return Array.isArray(source);
}

/** True for an error of the system in reading a file, and for a file that was written over. */
function isOfTheFile(error: unknown): boolean {
  return error instanceof SourceChanged || (error instanceof Error && 'syscall' in error);
}

/**
 * A file is a session's where a row has a uuid, or has none as the tool's bookkeeping: of a type that is known, or of any
 * in a session. Other tools name a session or call a row `user`, too.
 */
function isSession(file: SessionFile): boolean {
  return file.rows.some(({ uuid, sessionId, type }) => {
    return uuid !== undefined || isBookkeeping(type) || (sessionId !== undefined && type !== '');
  });
}

/** What a file is that begins so, where a session may be in it all the same. */
function otherKind(start: Uint8Array): string | undefined {
  const begins = (...bytes: readonly number[]) => bytes.every((byte, at) => start[at] === byte);
  if (begins(0x1f, 0x8b) || begins(0x28, 0xb5, 0x2f, 0xfd)) return 'it is compressed, unpack it first';
  return begins(0xff, 0xfe) || begins(0xfe, 0xff) ? 'it is text in UTF-16, write it in UTF-8 first' : undefined;
}

/** Answers as a store without the conversation does. */
class PredictedStore {
  #revision = 0;
  #sequence = 0;
  #leaf: string | undefined;

  answer(commit: Commit): Answer {
    const events = commit.changes.map((change) => {
      if (change.kind === 'turn.record') {
        this.#revision += 2;
        this.#leaf = change.turnId;
      }
      if (change.kind === 'leaf.select' && change.turnId !== this.#leaf) {
        this.#revision += 1;
        this.#leaf = change.turnId;
      }
      if (change.kind !== 'message.append') return { kind: change.kind };
      this.#sequence += 1;
      return { kind: change.kind, sequence: this.#sequence };
    });
    return { receipt: { graphRevision: this.#revision, events, replayed: false } };
  }
}
