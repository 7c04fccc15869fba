import type { TurnId } from '../core/ids.ts';
import type { LabelledTurn } from '../ledger/readings.ts';

/**
 * The turn tree as lines. A turn's line of descent that matters most (the active path, else the largest subtree) goes on
 * straight below it; its siblings hang off to the side above it, in order:
 *
 * ```
 * ● first turn
 * ├─● an answer that was left
 * │ ● and what followed
 * ● the same turn, edited
 * ● active leaf
 * ```
 *
 * So a tree of n turns is indented by log2(n) levels at most, however deep it is, and nothing recurs.
 */
export type TreeLine =
  | { readonly kind: 'turn'; readonly rails: string; readonly turn: LabelledTurn; readonly hasSiblings: boolean }
  | { readonly kind: 'left_out'; readonly rails: string; readonly turns: number; readonly branches: number };

export interface TreeOptions {
  /** The active leaf. */
  readonly leaf: TurnId | null;
  /** Draws every turn: otherwise the middle of what is long or wide is counted and left out. */
  readonly full?: boolean | undefined;
  /** Turns in a row, and branches at a turn, that are drawn at either end of what is left out; 10 when absent. */
  readonly ends?: number | undefined;
}

const ENDS = 10;

/** The lines of a tree whose turns come each after its parent, as `graph()` answers them. */
export function* treeLines(turns: readonly LabelledTurn[], options: TreeOptions): Generator<TreeLine> {
  const tree = new TurnTree(turns, options.leaf);
  const shown = options.full ? Infinity : (options.ends ?? ENDS);
  const waiting: Block[] = blocksOf(tree, tree.roots, 0, shown);
  for (let block = waiting.pop(); block; block = waiting.pop()) {
    if (block.kind === 'left_out') {
      yield {
        kind: 'left_out',
        rails: `${'│ '.repeat(block.depth - 1)}├╌`,
        turns: block.turns,
        branches: block.branches,
      };
      continue;
    }
    const run = tree.runFrom(block.first);
    yield* runLines(tree, run, block, shown);
    waiting.push(...blocksOf(tree, tree.childrenOf(run.at(-1) as number), block.depth, shown));
  }
}

type Block =
  | { readonly kind: 'run'; readonly first: number; readonly depth: number; readonly hangs: boolean }
  | { readonly kind: 'left_out'; readonly depth: number; readonly turns: number; readonly branches: number };

/** What follows a turn, last first: its side branches, then its straight line. */
function blocksOf(tree: TurnTree, children: readonly number[], depth: number, shown: number): Block[] {
  const straight = tree.straightest(children);
  if (straight === undefined) return [];
  const sides = children.filter((child) => child !== straight);
  const block = (first: number): Block => ({ kind: 'run', first, depth: depth + 1, hangs: true });
  const blocks: Block[] = sides.length <= shown * 2 ? sides.map(block) : [];
  if (blocks.length < sides.length) {
    const left = sides.slice(shown, -shown);
    const turns = left.reduce((sum, child) => sum + tree.sizeOf(child), 0);
    blocks.push(...sides.slice(0, shown).map(block));
    blocks.push({ kind: 'left_out', depth: depth + 1, turns, branches: left.length });
    blocks.push(...sides.slice(-shown).map(block));
  }
  blocks.push({ kind: 'run', first: straight, depth, hangs: false });
  return blocks.reverse();
}

function* runLines(
  tree: TurnTree,
  run: readonly number[],
  { depth, hangs }: Extract<Block, { kind: 'run' }>,
  shown: number,
): Generator<TreeLine> {
  const rails = '│ '.repeat(depth);
  const first = hangs ? `${'│ '.repeat(depth - 1)}├─` : rails;
  for (const [at, piece] of pieces(tree, run, shown).entries()) {
    if (typeof piece === 'number')
      yield {
        kind: 'turn',
        rails: at === 0 ? first : rails,
        turn: tree.turn(piece),
        hasSiblings: tree.hasSiblings(piece),
      };
    else yield { kind: 'left_out', rails, turns: piece.leftOut, branches: 0 };
  }
}

/** A run with the middle of its long plain stretches counted instead of drawn. */
function pieces(tree: TurnTree, run: readonly number[], shown: number): (number | { readonly leftOut: number })[] {
  const out: (number | { readonly leftOut: number })[] = [];
  let plain: number[] = [];
  const settle = () => {
    if (plain.length <= shown * 2 + 1) for (const node of plain) out.push(node);
    else out.push(...plain.slice(0, shown), { leftOut: plain.length - shown * 2 }, ...plain.slice(-shown));
    plain = [];
  };
  for (const node of run) {
    if (tree.isPlain(node)) {
      plain.push(node);
      continue;
    }
    settle();
    out.push(node);
  }
  settle();
  return out;
}

/** Turns by index, with what the drawing asks of them. */
class TurnTree {
  readonly roots: readonly number[];
  readonly #turns: readonly LabelledTurn[];
  readonly #leaf: TurnId | null;
  readonly #parents: readonly (number | undefined)[];
  readonly #children: readonly (readonly number[] | undefined)[];
  readonly #sizes: Float64Array;
  readonly #active: Uint8Array;

  constructor(turns: readonly LabelledTurn[], leaf: TurnId | null) {
    const places = new Map(turns.map(({ turnId }, at) => [turnId, at]));
    const parents = turns.map(({ parentTurnId }, at) => {
      const parent = parentTurnId === null ? undefined : places.get(parentTurnId);
      return parent !== undefined && parent < at ? parent : undefined;
    });
    const children: (number[] | undefined)[] = turns.map(() => undefined);
    const roots: number[] = [];
    for (const [at, parent] of parents.entries()) {
      if (parent === undefined) roots.push(at);
      else (children[parent] ??= []).push(at);
    }
    this.#turns = turns;
    this.#leaf = leaf;
    this.#parents = parents;
    this.#children = children;
    this.roots = roots;
    this.#sizes = subtreeSizes(parents);
    this.#active = new Uint8Array(turns.length);
    for (let at = leaf === null ? undefined : places.get(leaf); at !== undefined; at = parents[at])
      this.#active[at] = 1;
  }

  turn(at: number): LabelledTurn {
    return this.#turns[at] as LabelledTurn;
  }

  /** By ordinal. */
  childrenOf(at: number): readonly number[] {
    return (this.#children[at] ?? []).toSorted((left, right) => this.turn(left).ordinal - this.turn(right).ordinal);
  }

  hasSiblings(at: number): boolean {
    const parent = this.#parents[at];
    const siblings = parent === undefined ? this.roots : this.#children[parent];
    return (siblings?.length ?? 0) > 1;
  }

  sizeOf(at: number): number {
    return this.#sizes[at] ?? 0;
  }

  /** The one that goes on straight: on the active path, else with the most turns below it, the newest of these. */
  straightest(children: readonly number[]): number | undefined {
    const weight = (at: number) => (this.#active[at] ? Infinity : this.sizeOf(at));
    return children.reduce<number | undefined>(
      (best, child) => (best === undefined || weight(child) >= weight(best) ? child : best),
      undefined,
    );
  }

  /** The turns from one down to the first that does not have exactly one child. */
  runFrom(first: number): readonly number[] {
    const run = [first];
    for (let next = this.#onlyChild(first); next !== undefined; next = this.#onlyChild(next)) run.push(next);
    return run;
  }

  #onlyChild(at: number): number | undefined {
    const children = this.#children[at];
    return children?.length === 1 ? children[0] : undefined;
  }

  /** True where nothing is lost if the turn is only counted. */
  isPlain(at: number): boolean {
    const { turnId, state, why, parentMessageId } = this.turn(at);
    return state === 'completed' && turnId !== this.#leaf && why === 'start' && parentMessageId === null;
  }
}

/** Turns of each subtree, its root included. Children come after their parents. */
function subtreeSizes(parents: readonly (number | undefined)[]): Float64Array {
  const sizes = new Float64Array(parents.length).fill(1);
  for (let at = parents.length - 1; at >= 0; at--) {
    const parent = parents[at];
    if (parent !== undefined) sizes[parent] = (sizes[parent] ?? 0) + (sizes[at] ?? 0);
  }
  return sizes;
}
