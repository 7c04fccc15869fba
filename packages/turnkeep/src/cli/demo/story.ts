import { basename, sep } from 'node:path';
import type { Traits } from '../../core/backend.ts';
import type { ImportReport } from '../../interchange/index.ts';
import { messageCount } from '../commands/import.ts';
import { amountOf } from '../commands/verify.ts';
import type { Colors } from '../output.ts';
import { clip, counted, grouped, safeLine } from '../terminal-text.ts';
import type { DemoStore } from './demo-store.ts';
import type { Killed } from './kill.ts';
import type { Proof } from './proof.ts';

/** What the demonstration tells, part by part; all of it on one screen. */

export interface Continuation {
  readonly conversationId: string;
  /** True where nothing could be imported, so that it continues a conversation of its own. */
  readonly isNew: boolean;
  /** The conversation's version after the commit. */
  readonly version: number;
  readonly changes: number;
}

const INDENT = '             ';
const LINE_COLUMNS = 100;

function* part(colors: Colors, name: string, lines: readonly string[]): Generator<string> {
  const [first = '', ...rest] = lines;
  yield `${colors.bold(colors.cyan(name.padEnd(INDENT.length)))}${first}`;
  for (const line of rest) yield INDENT + line;
}

export function* opening(colors: Colors): Generator<string> {
  yield colors.bold('Turnkeep: what belongs together is committed together');
  yield '';
}

const SHOWN_DAMAGE = 3;

export function* imported(colors: Colors, source: string, report: ImportReport): Generator<string> {
  const messages = report.conversations.reduce((sum, one) => sum + messageCount(one), 0);
  const turns = report.conversations.reduce((sum, one) => sum + one.turns, 0);
  const sums = report.files.reduce(
    (sum, file) => ({
      lines: sum.lines + file.lines,
      opaque: sum.opaque + file.opaque,
      repeated: sum.repeated + file.repeated,
    }),
    { lines: 0, opaque: 0, repeated: 0 },
  );
  const damage = report.files.flatMap((file) => file.damage);
  const what = report.conversations.length === 0 ? 'nothing from' : 'a Claude Code session,';
  yield* part(colors, '1 Import', [
    `${what} ${clip(safeLine(basename(source)), 60)}: ${counted(sums.lines, 'line')}`,
    `${counted(report.conversations.length, 'conversation')}, ${counted(turns, 'turn')}, ${counted(messages, 'message')}; ${grouped(sums.opaque)} records kept as opaque, ${grouped(sums.repeated)} repeated`,
    ...damage
      .slice(0, SHOWN_DAMAGE)
      .map(({ line, kind, reason }) =>
        colors.yellow(clip(`! line ${grouped(line)} is damaged: ${safeLine(kind)}, ${safeLine(reason)}`, LINE_COLUMNS)),
      ),
    ...(damage.length > SHOWN_DAMAGE ? [colors.yellow(`! ${grouped(damage.length - SHOWN_DAMAGE)} more damaged`)] : []),
    ...report.refused
      .slice(0, SHOWN_DAMAGE)
      .map(({ message }) => colors.yellow(clip(`! refused: ${safeLine(message)}`, LINE_COLUMNS))),
    ...[...report.unread, ...report.ignored]
      .slice(0, SHOWN_DAMAGE)
      .map(({ reason }) => colors.yellow(clip(`! ignored: ${safeLine(reason)}`, LINE_COLUMNS))),
    ...(damage.length > 0 && messages > 0 ? ['All that is whole was imported.'] : []),
  ]);
}

export function* continued(colors: Colors, { isNew, version, changes }: Continuation): Generator<string> {
  yield* part(colors, '2 Continue', [
    ...(isNew ? ['Nothing could be imported, so a new conversation stands in.'] : []),
    `one commit of ${changes} changes: prompt, answer, checkpoint, a task that starts, a promise`,
    `durable as a whole before it was acknowledged, as version ${grouped(version)}`,
  ]);
}

export function* killed(colors: Colors, { acknowledged, onTheirWay, signal }: Killed): Generator<string> {
  yield* part(colors, '3 Kill', [
    'another process goes on: a turn, its checkpoint and its working state in each commit',
    `${signal} after ${counted(acknowledged.length, 'answer')}, with ${counted(onTheirWay.length, 'commit')} on their way`,
  ]);
}

const TREE_LINES = 16;

function endsOf(drawing: readonly string[], colors: Colors): readonly string[] {
  const leftOut = colors.dim(`⋮ ${counted(drawing.length - TREE_LINES + 1, 'line')} of the tree`);
  return [...drawing.slice(0, TREE_LINES - 5), leftOut, ...drawing.slice(-4)];
}

export function* tree(colors: Colors, title: string | null, drawing: readonly string[]): Generator<string> {
  yield '';
  yield colors.bold(clip(safeLine(title ?? 'The conversation'), LINE_COLUMNS));
  yield* drawing.length <= TREE_LINES ? drawing : endsOf(drawing, colors);
}

export function* proved(colors: Colors, proof: Proof, traits: Traits): Generator<string> {
  const check = (holds: boolean, text: string) => `${holds ? colors.green('✓') : colors.red('✗')} ${text}`;
  const { acknowledged, acknowledgedWhole, onTheirWay, whole, absent, inPart, replayed, turns, verify } = proof;
  yield '';
  yield colors.bold('After the kill, opened again');
  yield check(
    acknowledgedWhole === acknowledged,
    `${acknowledgedWhole} of ${acknowledged} acknowledged commits are there, each one whole`,
  );
  yield check(
    inPart === 0,
    `of the ${onTheirWay} on their way ${whole} came to be whole, ${absent} not at all, ${inPart} in part`,
  );
  yield check(
    replayed === whole && turns === acknowledged + onTheirWay,
    `sent again under their ids: ${replayed} answered as done, ${onTheirWay - replayed} done now; each turn is there once`,
  );
  const ofFile = verify.faults.filter(({ kind }) => kind === 'store');
  const ofHistory = counted(verify.faults.length - ofFile.length, 'fault');
  yield check(
    ofFile.length === verify.faults.length,
    `digests, chain, tree and counters: ${amountOf(verify)}, ${ofHistory}`,
  );
  const integrity = ofFile.length === 0 ? 'integrity_check ok' : counted(ofFile.length, 'fault');
  yield check(ofFile.length === 0, `the file itself: ${integrity} (${traits.backend}, ${traits.sync})`);
  for (const { place, reason } of verify.faults.slice(0, SHOWN_DAMAGE)) {
    yield `  ${clip(safeLine(`${place}: ${reason}`), LINE_COLUMNS)}`;
  }
}

export function* ending(colors: Colors, store: DemoStore, conversationId: string, proof: Proof): Generator<string> {
  yield '';
  if (!proof.holds) yield colors.red('The promise was broken. Please report this, with the file.');
  const { demo, program } = callsFrom(import.meta.dirname);
  yield store.isKept
    ? colors.dim(`Look around: ${program} show ${safeLine(conversationId)} --store ${safeLine(store.url)}`)
    : colors.dim(`To keep the store and look around: ${demo} --store sqlite:demo.db`);
}

/** How a person calls the demonstration and the program: where the package is installed, or in its repository. */
export function callsFrom(directory: string): { readonly demo: string; readonly program: string } {
  const isInstalled = directory.split(sep).includes('node_modules');
  return isInstalled
    ? { demo: 'npx turnkeep demo', program: 'npx turnkeep' }
    : { demo: 'npm start --', program: 'node packages/turnkeep/dist/cli/main.js' };
}
