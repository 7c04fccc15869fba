import type { Turn } from '../measure/turn.ts';

/**
 * Somebody who keeps conversations. What one stores and what it survives is stated, since only equals are compared; the
 * workload `durability` counts the syncs.
 */
export interface Contender {
  readonly name: string;
  /** Turnkeep, an agent framework's store, or what people write by hand. */
  readonly kind: 'turnkeep' | 'framework' | 'by hand';
  /** What an acknowledged turn survives as it is set up here. */
  readonly survives: 'power loss' | 'process crash' | 'nothing';
  /** Whether these are the settings that it comes with. */
  readonly setup: 'as shipped' | 'made to sync' | 'our choice';
  /** Whether it keeps all that a turn brings, or has a place for messages alone: the two are no equals. */
  readonly keeps: 'whole turns' | 'messages';
  /** What it writes for a turn. */
  readonly writes: string;
  /** Whether a turn writes all earlier ones again. */
  readonly rewrites: boolean;
  /** Why it cannot run here, if it cannot. */
  missing(): Promise<string | undefined>;
  /** Opens a new store, or the one that is in the folder. */
  open(folder: string): Promise<Store>;
}

/** An open store of a contender. Conversations are named; turns of one come in order, from 0. */
export interface Store {
  /** Answers when the turn is kept as safely as the contender keeps it. */
  turn(conversation: string, turn: Turn): Promise<void>;
  /** Puts a conversation into the state after so many turns of history, by the shortest way; `turn` goes on there. */
  grow(conversation: string, turns: number): Promise<void>;
  /** Ends when nothing goes on behind the caller's back, so that the next contender has the machine to itself. */
  settle?(): Promise<void>;
  /** How many of the last messages were read. */
  last(conversation: string, count: number): Promise<number>;
  /** What the store says about how it syncs: a pragma that was read back after writing. */
  sync(): Promise<string>;
  /** Closes; answers the bytes of all that it left. */
  close(): Promise<number>;
}
