import type { TurnState } from '../../core/change.ts';
import type { LabelledTurn } from '../../ledger/readings.ts';
import { EXIT } from '../exit-codes.ts';
import type { ExitCode } from '../exit-codes.ts';
import { jsonText } from '../json-text.ts';
import type { Colors } from '../output.ts';
import { readStore } from '../shell.ts';
import type { CommonOptions, Shell } from '../shell.ts';
import { clip, columnsOf, counted, padEnd, safeLine } from '../terminal-text.ts';
import { treeLines } from '../turn-tree.ts';
import type { TreeLine, TreeOptions } from '../turn-tree.ts';

export interface TreeCommandOptions extends CommonOptions {
  readonly at?: number | undefined;
  readonly full?: boolean | undefined;
}

/** `turnkeep tree`: the turns of a conversation, with branches. */
export async function runTree(shell: Shell, conversationId: string, options: TreeCommandOptions): Promise<ExitCode> {
  await readStore(shell, options, async (namespace) => {
    const conversation = namespace.conversation(conversationId);
    const info = await conversation.info();
    const past = options.at === undefined ? undefined : await conversation.at(options.at);
    const leaf = past ? past.leaf : info.leaf;
    const turns = await conversation.graph(options.at === undefined ? {} : { atVersion: options.at });
    const version = options.at ?? info.version;
    if (options.json) {
      await printJson(shell, { conversationId, version, leaf }, turns);
      return;
    }
    await shell.out.line(shell.out.colors.bold(safeLine(info.title ?? '(no title)')));
    await shell.out.line(
      shell.out.colors.dim(safeLine(`${conversationId} · version ${version} · ${counted(turns.length, 'turn')}`)),
    );
    for (const line of drawnTree(shell, turns, { conversationId, leaf, full: options.full })) {
      shell.signal.throwIfAborted();
      await shell.out.line(line);
    }
  });
  return EXIT.ok;
}

/** One document, handed over turn by turn. */
async function printJson({ out }: Shell, head: object, turns: readonly LabelledTurn[]): Promise<void> {
  await out.write(`${jsonText(head).slice(0, -1)},"turns":[`);
  for (const [at, turn] of turns.entries()) await out.write((at === 0 ? '' : ',') + jsonText(turn));
  await out.line(']}');
}

export interface TreeDrawing extends TreeOptions {
  readonly conversationId: string;
  /** Leaves out what leads further: turn ids, and the option that shows what is left out. */
  readonly isBrief?: boolean | undefined;
}

const DRAWING_COLUMNS = 64;
const STATE_COLUMNS = 9;
/** What stands beside the drawing on a narrow terminal: state and mark. */
const BESIDE_COLUMNS = 26;

/** A tree as lines for a terminal, one after the other. */
export function* drawnTree({ out }: Shell, turns: readonly LabelledTurn[], how: TreeDrawing): Generator<string> {
  const width = Math.max(24, Math.min(DRAWING_COLUMNS, (out.columns ?? Infinity) - BESIDE_COLUMNS));
  for (const line of treeLines(turns, how)) {
    yield line.kind === 'turn' ? turnLine(line, how, out.colors, width) : leftOutLine(line, how, out.colors);
  }
}

const SYMBOLS: Record<TurnState, string> = {
  preparing: '◌',
  dispatching: '◌',
  running: '◐',
  waiting: '◑',
  completed: '●',
  failed: '✗',
  cancelled: '⊘',
};

type DrawnTurn = Extract<TreeLine, { kind: 'turn' }>;

function turnLine(line: DrawnTurn, how: TreeDrawing, colors: Colors, width: number): string {
  const { rails, turn } = line;
  const isLeaf = turn.turnId === how.leaf;
  const symbol = SYMBOLS[turn.state];
  const room = width - columnsOf(rails) - 2;
  const words = padEnd(clip(`${markOf(line)}${safeLine(turn.label) || '(no words)'}`, room), room);
  const paint = turn.state === 'failed' ? colors.red : turn.state === 'completed' ? colors.green : colors.yellow;
  const end = [
    padEnd(turn.state, STATE_COLUMNS),
    ...(how.isBrief ? [] : [colors.dim(safeLine(turn.turnId))]),
    ...(turn.conversationId === how.conversationId ? [] : [colors.dim(`from ${safeLine(turn.conversationId)}`)]),
    ...(isLeaf ? [colors.bold('◀ active leaf')] : []),
  ];
  return `${rails && colors.dim(rails)}${paint(symbol)} ${isLeaf ? colors.bold(words) : words} ${end.join(' ')}`.trimEnd();
}

/** `[2 edit]`: its number among its siblings and why it is there; nothing for an only child. */
function markOf({ turn, hasSiblings }: DrawnTurn): string {
  const { ordinal, why, parentMessageId } = turn;
  const reasons = [...(why === 'start' ? [] : [why]), ...(parentMessageId === null ? [] : ['rewind'])];
  return hasSiblings || ordinal > 1 || reasons.length > 0 ? `[${[ordinal, ...reasons].join(' ')}] ` : '';
}

function leftOutLine(line: Extract<TreeLine, { kind: 'left_out' }>, how: TreeDrawing, colors: Colors): string {
  const { rails, turns, branches } = line;
  const what =
    branches === 0 ? counted(turns, 'turn') : `${counted(branches, 'branch', 'branches')}, ${counted(turns, 'turn')}`;
  return colors.dim(`${rails}⋮ ${what}${how.isBrief ? '' : ' (--full shows them)'}`);
}
