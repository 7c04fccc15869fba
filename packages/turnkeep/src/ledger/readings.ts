import type { TurnId } from '../core/ids.ts';
import type { GraphTurn } from '../core/read/graph.ts';
import type { DamagedMessages, Message } from '../core/read/message.ts';
import { abortSignal, anything, idOrNull, oneOf, text } from './given.ts';
import type { Checks } from './given.ts';
import { PATH } from './path-reads.ts';
import type { PathOptions } from './path-reads.ts';

/** The last messages of a path, oldest first. */
export interface MessageWindow {
  readonly messages: readonly Message[];
  /** Pass it as `before` to get the messages before these; `null` at the start of the path. */
  readonly before: string | null;
}

export interface DamageOptions {
  /** `refuse` (when absent): a message whose words are damaged fails the reading with `corrupt`. `mark`: it is shown as damaged. */
  readonly damaged?: DamagedMessages | undefined;
}

/** Which window. */
export interface WindowOptions extends DamageOptions {
  /** The `before` of a window: the messages before it. The end of the path when absent. */
  readonly before?: string | undefined;
  /** The active leaf when absent; `null`: the root. */
  readonly leaf?: TurnId | null | undefined;
}

/** Which page. */
export interface PageOptions extends PathOptions, DamageOptions {
  /** The `next` of the page before. The start of the path when absent. */
  readonly after?: string | undefined;
  /** The most messages of one page; 100 when absent. */
  readonly limit?: number | undefined;
}

/** What is read, from the root on. */
export interface ReadOptions extends PathOptions, DamageOptions {
  /** The most messages of one page; 100 when absent. */
  readonly pageSize?: number | undefined;
}

/** Which tree. */
export interface GraphOptions {
  /** As it was after this version of the conversation; as it is when absent. */
  readonly atVersion?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const DAMAGE: Checks<DamageOptions> = { damaged: oneOf('refuse', 'mark') };
// Counts and cursors are checked elsewhere, with their own errors.
export const WINDOW: Checks<WindowOptions> = { ...DAMAGE, before: anything, leaf: idOrNull };
export const PAGE: Checks<PageOptions> = { ...PATH, ...DAMAGE, after: anything, limit: anything };
export const READ: Checks<ReadOptions> = { ...PATH, ...DAMAGE, pageSize: anything };
export const GRAPH: Checks<GraphOptions> = { atVersion: anything, signal: abortSignal };
export const INFO: Checks<{ readonly reader?: string | undefined }> = { reader: text };

/** A page of a path, root first. */
export interface MessagePage {
  readonly messages: readonly Message[];
  /** At the end of the active path: the prompts of turns under the leaf that were submitted and have not started. */
  readonly pending: readonly Message[];
  /** Pass it as `after` to get the next page; `null` at the end of the path. */
  readonly next: string | null;
}

/** A turn of the tree with the first words of its first message. */
export interface LabelledTurn extends GraphTurn {
  readonly label: string;
}

/** A conversation as it was after a version. */
export interface PastHead {
  readonly leaf: TurnId | null;
  readonly graphRevision: number;
}
