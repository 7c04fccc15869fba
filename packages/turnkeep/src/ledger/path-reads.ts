import type { TurnId } from '../core/ids.ts';
import { headAtVersion } from '../core/read/turns.ts';
import type { PathOf } from '../core/read/tasks.ts';
import type { AtVersion } from '../core/tree/entries.ts';
import { pathTo } from '../core/tree/path.ts';
import type { View } from './access.ts';
import { assertObject } from './given.ts';

/** Which path is read, and when. */
export interface PathOptions {
  /** Absent: the active leaf; `null`: the root. */
  readonly leaf?: TurnId | null | undefined;
  /** The conversation as it was after this version. Absent: as it is. */
  readonly atVersion?: number | undefined;
}

/** The path that the options name, and the version that its entries are read at. */
export function pathOf(
  view: View,
  options: PathOptions,
): { readonly path: PathOf; readonly at: AtVersion; readonly leaf: TurnId | null } {
  assertObject(options, 'options');
  const { atVersion } = options;
  const active =
    atVersion === undefined ? view.tree.head.leaf : headAtVersion(view.tree, view.bodies, atVersion, 'atVersion').leaf;
  const leaf = options.leaf === undefined ? active : options.leaf;
  return { leaf, path: () => pathTo(view.tree, leaf), at: { version: atVersion } };
}
