import type { TurnId } from '../core/ids.ts';
import { headAtVersion } from '../core/read/turns.ts';
import type { PathOf } from '../core/read/tasks.ts';
import type { AtVersion } from '../core/tree/entries.ts';
import { pathTo } from '../core/tree/path.ts';
import type { View } from './access.ts';
import { anything, assertChecked, idOrNull } from './given.ts';
import type { Checks } from './given.ts';

/** Which path is read, and when. */
export interface PathOptions {
  /** Absent: the active leaf; `null`: the root. */
  readonly leaf?: TurnId | null | undefined;
  /** The conversation as it was after this version. Absent: as it is. */
  readonly atVersion?: number | undefined;
}

export const PATH: Checks<PathOptions> = { leaf: idOrNull, atVersion: anything };

/** The path that the options name, and the version that its entries are read at. `known`: the options that the caller accepts. */
export function pathOf(
  view: View,
  options: PathOptions,
  known: Checks<PathOptions> = PATH,
): { readonly path: PathOf; readonly at: AtVersion; readonly leaf: TurnId | null } {
  assertChecked(options, known);
  const { atVersion } = options;
  const active =
    atVersion === undefined ? view.tree.head.leaf : headAtVersion(view.tree, view.bodies, atVersion, 'atVersion').leaf;
  const leaf = options.leaf === undefined ? active : options.leaf;
  return { leaf, path: () => pathTo(view.tree, leaf), at: { version: atVersion } };
}
