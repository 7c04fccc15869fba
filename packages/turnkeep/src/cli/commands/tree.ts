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
/** A drawing that is narrower says nothing any more. */
const LEAST_COLUMNS = 24;
const STATE_COLUMNS = 9;
const LEAF_MARK = '◀ active leaf';
/** State and mark, each behind a space. */
const BESIDE_COLUMNS = 1 + STATE_COLUMNS + 1 + columnsOf(LEAF_MARK);

/** Where a drawing stands on the terminal. */
interface Layout {
  /** Columns of rails and words. */
  readonly width: number;
  /** True where a turn's id stands in a line of its own, since beside it would not fit. */
  readonly idsBelow: boolean;
}

/** A tree as lines for a terminal, one after the other. Of a terminal that is not too narrow for it none wraps. */
export function* drawnTree(
  { out }: Pick<Shell, 'out'>,
  turns: readonly LabelledTurn[],
  how: TreeDrawing,
): Generator<string> {
  const layout = layoutOf(out.columns ?? Infinity, turns, how);
  for (const line of treeLines(turns, how)) {
    if (line.kind === 'left_out') yield leftOutLine(line, how, out.colors);
    else yield* turnLines(line, how, out.colors, layout);
  }
}

function layoutOf(columns: number, turns: readonly LabelledTurn[], how: TreeDrawing): Layout {
  const ids = how.isBrief ? 0 : turns.reduce((most, turn) => Math.max(most, columnsOf(idsOf(turn, how)) + 1), 0);
  const besideIds = columns - BESIDE_COLUMNS - ids;
  const idsBelow = besideIds < LEAST_COLUMNS && ids > 0;
  const room = idsBelow ? columns - BESIDE_COLUMNS : besideIds;
  return { idsBelow, width: Math.max(LEAST_COLUMNS, Math.min(DRAWING_COLUMNS, room)) };
}

/** The id of a turn, and the conversation that it is inherited from. */
function idsOf({ turnId, conversationId }: LabelledTurn, how: TreeDrawing): string {
  return safeLine(conversationId === how.conversationId ? turnId : `${turnId} from ${conversationId}`);
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

function* turnLines(line: DrawnTurn, how: TreeDrawing, colors: Colors, layout: Layout): Generator<string> {
  const { rails, turn } = line;
  const isLeaf = turn.turnId === how.leaf;
  const symbol = SYMBOLS[turn.state];
  const room = Math.max(1, layout.width - columnsOf(rails) - 2);
  const words = padEnd(clip(`${markOf(line)}${safeLine(turn.label) || '(no words)'}`, room), room);
  const paint = turn.state === 'failed' ? colors.red : turn.state === 'completed' ? colors.green : colors.yellow;
  const ids = colors.dim(idsOf(turn, how));
  const end = [
    padEnd(turn.state, STATE_COLUMNS),
    ...(how.isBrief || layout.idsBelow ? [] : [ids]),
    ...(isLeaf ? [colors.bold(LEAF_MARK)] : []),
  ];
  yield `${rails && colors.dim(rails)}${paint(symbol)} ${isLeaf ? colors.bold(words) : words} ${end.join(' ')}`.trimEnd();
  if (layout.idsBelow) yield `${colors.dim(rails.replace('├─', '│ '))}  ${ids}`;
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
