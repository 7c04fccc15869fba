import { statSync } from 'node:fs';
import type {
  ClaudeCodeSource,
  ConversationReport,
  FileReport,
  ImportProgress,
  ImportReport,
} from '../../interchange/index.ts';
import { importClaudeCode } from '../../interchange/index.ts';
import type { Namespace } from '../../ledger/namespace.ts';
import { EXIT } from '../exit-codes.ts';
import type { ExitCode } from '../exit-codes.ts';
import { usageError } from '../failure.ts';
import type { Colors } from '../output.ts';
import { writeStore } from '../shell.ts';
import type { CommonOptions, Shell } from '../shell.ts';
import { counted, grouped, safeLine } from '../terminal-text.ts';

export interface ImportOptions extends CommonOptions {
  readonly verbose?: boolean | undefined;
}

/** `turnkeep import`: sessions of Claude Code, from files or folders. Importing again adds only what is new. */
export async function runImport(shell: Shell, paths: readonly string[], options: ImportOptions): Promise<ExitCode> {
  const source = sourceOf(shell, paths);
  const report = await writeStore(shell, options, (namespace) => importInto(shell, namespace, source));
  if (options.json) await shell.out.json(report);
  else await shell.out.lines(reportLines(report, shell.out.colors, options.verbose ?? false));
  return exitCodeOf(report, paths);
}

/** Paths, or the session that standard input is. */
function sourceOf(shell: Shell, paths: readonly string[]): ClaudeCodeSource {
  if (paths.includes('-')) {
    if (paths.length > 1) throw usageError('-', 'standard input is imported alone');
    return shell.input();
  }
  const missing = paths.find(isMissing);
  if (missing !== undefined) throw usageError(missing, 'there is no such file or folder');
  return paths;
}

/** True where nothing is there; what is there and cannot be read is told by the import. */
function isMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

/** Imports into a namespace, with progress on standard error. */
export async function importInto(shell: Shell, namespace: Namespace, source: ClaudeCodeSource): Promise<ImportReport> {
  const onProgress = (progress: ImportProgress) => shell.progress.show(() => progressText(progress));
  const report = await importClaudeCode(namespace, source, { onProgress, signal: shell.signal });
  shell.progress.end();
  return report;
}

function progressText({ file, filesDone, files, messages }: ImportProgress): string {
  return `Importing ${grouped(filesDone + 1)} of ${counted(files, 'file')}, ${counted(messages, 'message')}: ${file} …`;
}

/**
 * Damage if anything was not taken as it should be, a failure if what could not be read was all there is; not found if a
 * path that was named holds nothing to take: what is no session is not a damaged one.
 */
function exitCodeOf(report: ImportReport, paths: readonly string[]): ExitCode {
  const { refused, files, ignored, unread, conversations } = report;
  if (unread.length > 0) return conversations.length > 0 ? EXIT.damage : EXIT.failure;
  if (conversations.length === 0) return EXIT.notFound;
  const none = new Set(ignored.map(({ file }) => file).filter((file) => paths.includes(file)));
  const isDamaged = files.some(({ file, damage }) => damage.length > 0 && !none.has(file));
  if (refused.length > 0 || isDamaged) return EXIT.damage;
  return none.size > 0 ? EXIT.notFound : EXIT.ok;
}

const SHOWN = 20;

/** The report for a person: each conversation, then what was damaged, refused, not read or ignored. */
export function* reportLines(report: ImportReport, colors: Colors, verbose: boolean): Generator<string> {
  for (const conversation of report.conversations) yield* conversationLines(conversation, colors);
  const ignored = new Set(report.ignored.map(({ file }) => file));
  for (const file of report.files) {
    // What is none of it has no places that anybody would look for.
    const shown = verbose ? Infinity : ignored.has(file.file) ? 0 : SHOWN;
    if (file.lines > 0) yield* fileLines(file, colors, shown);
  }
  for (const refusal of report.refused) {
    const lines = refusal.lines.slice(0, SHOWN).join(', ');
    yield `${colors.red('✗')} refused: ${safeLine(refusal.message)} (${safeLine(refusal.conversationId)}, line ${lines})`;
  }
  for (const { file, reason } of report.unread)
    yield `${colors.red('✗')} not read: ${safeLine(file)}: ${safeLine(reason)}`;
  for (const { file, reason } of report.ignored) yield colors.dim(`- ignored ${safeLine(file)}: ${safeLine(reason)}`);
  if (report.conversations.length === 0) yield 'Nothing was imported: no session of Claude Code was found.';
}

function* conversationLines(conversation: ConversationReport, colors: Colors): Generator<string> {
  const { conversationId, title, turns, commits, replayed } = conversation;
  const again =
    commits > 0 && replayed === commits ? ', all of it there already' : replayed > 0 ? ', partly there already' : '';
  yield `${colors.green('✓')} ${colors.bold(safeLine(title ?? '(no title)'))}  ${colors.cyan(safeLine(conversationId))}`;
  yield `    ${counted(turns, 'turn')}, ${counted(messageCount(conversation), 'message')}${again}`;
}

export function messageCount({ messages }: ConversationReport): number {
  return Object.values(messages).reduce((sum, count) => sum + count, 0);
}

function* fileLines(file: FileReport, colors: Colors, shown: number): Generator<string> {
  const { lines, imported, opaque, repeated, damage, notes, openCalls } = file;
  const parts = [
    `${counted(imported, 'record')} imported`,
    `${grouped(opaque)} kept as opaque`,
    `${grouped(repeated)} repeated`,
    ...(openCalls.length === 0 ? [] : [`${counted(openCalls.length, 'call')} without a result`]),
    ...(notes.length === 0 ? [] : [counted(notes.length, 'note')]),
  ];
  yield colors.dim(`  ${safeLine(file.file)}: ${counted(lines, 'line')}, ${parts.join(', ')}`);
  if (damage.length > 0)
    yield `  ${colors.red(`✗ ${counted(damage.length, 'damaged place')}`)}, left out: all that is whole is imported`;
  for (const { line, byte, kind, reason, bytes } of damage.slice(0, shown)) {
    yield `    line ${grouped(line)}, byte ${grouped(byte)}: ${safeLine(kind)}, ${safeLine(reason)} (${counted(bytes, 'byte')})`;
  }
  if (damage.length > shown) yield colors.dim(`    … ${grouped(damage.length - shown)} more (--verbose)`);
  if (shown !== Infinity) return;
  for (const { kind, line, about } of notes)
    yield colors.dim(`    note, line ${grouped(line)}: ${kind} ${safeLine(about ?? '')}`.trimEnd());
}
