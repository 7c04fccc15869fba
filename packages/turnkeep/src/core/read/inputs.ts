import type { InputMode } from '../change.ts';
import type { InputId, TurnId } from '../ids.ts';
import type { Json } from '../json.ts';
import { KEYS, TABLES } from '../keys.ts';
import type { Author, Part } from '../message.ts';
import { unpackInput } from '../rows.ts';
import type { InputRow } from '../rows.ts';
import { scanPrefix } from '../tree/path.ts';
import type { Tree } from '../tree/path.ts';
import type { Bodies } from './bodies.ts';

/** What a user said while a turn was at work. Once it no longer waits, its words are in the message that it became. */
export interface Input {
  readonly inputId: InputId;
  readonly status: InputRow['status'];
  readonly mode: InputMode;
  /** Counts its edits. */
  readonly revision: number;
  /** Empty once it was delivered or withdrawn. */
  readonly prompt: readonly Part[];
  readonly input?: 'prompt' | 'command' | 'shell' | undefined;
  readonly author?: Author | undefined;
  readonly metadata?: Json | undefined;
  readonly occurredAt?: string | undefined;
  readonly enqueuedAt: string;
  /** The turn that it was delivered to. */
  readonly turnId: TurnId | null;
}

export function readInput(tree: Tree, bodies: Bodies, inputId: InputId): Input | undefined {
  const value = tree.rows.get(tree.head.conversationId, KEYS.input(inputId));
  return value && inputOf(tree, bodies, inputId, unpackInput(value));
}

/** The inputs that wait, oldest first: in the order in which they will start turns. */
export function readWaitingInputs(tree: Tree, bodies: Bodies): readonly Input[] {
  const waiting = scanPrefix(tree.rows, tree.head.conversationId, TABLES.waiting);
  return waiting.flatMap(({ value }) => readInput(tree, bodies, value[0] as InputId) ?? []);
}

type Words = Omit<Input, 'inputId' | 'status' | 'mode' | 'revision' | 'prompt' | 'enqueuedAt' | 'turnId'> & {
  readonly parts: readonly Part[];
};

function inputOf(tree: Tree, bodies: Bodies, inputId: InputId, row: InputRow): Input {
  const owner = tree.head.conversationId;
  const { status, mode, revision, turnId, stamp, words } = row;
  const body = (bodies.body({ owner, ...words }) ?? { parts: [] }) as unknown as Words;
  const { parts, input, author, metadata, occurredAt } = body;
  const said = { prompt: parts, input, author, metadata, occurredAt };
  return { inputId, status, mode, revision, ...said, enqueuedAt: bodies.committedAt(owner, stamp.version), turnId };
}
