import type { Row, RowReader } from '../backend.ts';
import type { Head } from '../head.ts';
import type { ConversationId } from '../ids.ts';
import { KEYS, TABLES } from '../keys.ts';
import type { LogHeader } from '../log.ts';
import { unpackInterrupt, unpackOperation, unpackTurn } from '../rows.ts';
import { isBusy } from '../rules/turn-states.ts';

/** What the rows of a conversation add up to, for its head. */
export interface RowCounts {
  readonly branches: number;
  readonly turns: number;
  readonly busy: number;
  readonly openInterrupts: number;
}

export const NO_ROWS: RowCounts = { branches: 0, turns: 0, busy: 0, openInterrupts: 0 };

export function countRow(sum: RowCounts, { key, value }: Row): RowCounts {
  switch (key[0]) {
    case TABLES.branches:
      return { ...sum, branches: sum.branches + 1 };
    case TABLES.turns:
      return { ...sum, turns: sum.turns + 1, busy: sum.busy + (isBusy(unpackTurn(value).state) ? 1 : 0) };
    case TABLES.interrupts:
      return {
        ...sum,
        openInterrupts: sum.openInterrupts + (unpackInterrupt('', value).status === 'open' ? 1 : 0),
      };
    default:
      return sum;
  }
}

/**
 * Where a head disagrees with its rows and its last commit, for a person. The head did not change while the rows were
 * counted.
 */
export function headProblems(
  rows: RowReader,
  head: Head,
  counted: RowCounts,
  last: LogHeader | undefined,
): readonly string[] {
  const problems: string[] = [];
  const differs = (what: string, said: unknown, found: unknown) => {
    if (said !== found) problems.push(`its ${what} is ${String(said)}, and ${String(found)} is what is there`);
  };
  if (last) {
    differs('leaf', head.leaf, last.leaf);
    differs('graph revision', head.graphRevision, last.graphRevision);
  }
  differs('number of branches', head.branches, counted.branches);
  differs('number of turns', head.turns, counted.turns);
  differs('number of turns at work', head.busy.length, counted.busy);
  differs('number of open interrupts', head.openInterrupts.length, counted.openInterrupts);
  return [...problems, ...strangers(rows, head)];
}

/** What the head names but the rows do not have in that form. */
function strangers(rows: RowReader, head: Head): readonly string[] {
  const { conversationId: own, busy, openInterrupts, openOperation, lastMessage, fields } = head;
  const { source, cutTurn, parent } = head;
  const problems: string[] = [];
  const assertThere = (isThere: boolean, what: string) => {
    if (!isThere) problems.push(`it names ${what}, which is not there so`);
  };
  for (const turnId of busy) {
    const place = rows.get(own, KEYS.turnId(turnId));
    const turn = place && rows.get(own, KEYS.turn(...(place as readonly [number, number])));
    assertThere(turn !== undefined && isBusy(unpackTurn(turn).state), `turn ${turnId} at work`);
  }
  for (const id of openInterrupts) {
    const turnId = rows.get(own, KEYS.interruptId(id))?.[0] as string | undefined;
    const row = turnId === undefined ? undefined : rows.get(own, KEYS.interrupt(turnId, id));
    assertThere(row !== undefined && unpackInterrupt('', row).status === 'open', `open interrupt ${id}`);
  }
  if (openOperation !== null) {
    const row = rows.get(own, KEYS.operation(openOperation));
    assertThere(row !== undefined && unpackOperation(row).status === 'open', `open operation ${openOperation}`);
  }
  for (const [what, ref] of [
    ['the last message', lastMessage?.ref],
    ['list fields', fields],
  ] as const) {
    if (ref) assertThere(rows.log(ref.owner, ref.version)?.records[ref.index] !== undefined, what);
  }
  if (source !== null) assertThere(knows(rows, source, KEYS.fork(own)), `source ${source}`);
  else if (cutTurn !== null) assertThere(false, `turn ${cutTurn} to have been cut at`);
  if (parent) {
    const { conversationId, turnId } = parent;
    assertThere(knows(rows, conversationId, KEYS.spawned(turnId, own)), `parent ${conversationId}, turn ${turnId}`);
  }
  if (head.collected) assertThere(false, 'itself collected, though nobody erased it');
  return problems;
}

/** What a conversation hangs on knows of it, until it is erased. */
function knows(rows: RowReader, above: ConversationId, key: string): boolean {
  const head = rows.head(above);
  return head !== undefined && (head.erasedAt !== null || rows.get(above, key) !== undefined);
}

/** True for a tombstone that no commit made: neither its own last one, as far as that can be read, nor its parent's. */
export function isFalseTombstone(rows: RowReader, { parent }: Head, last: LogHeader | undefined): boolean {
  if (!last || last.events.some(({ kind }) => kind === 'conversation.erase')) return false;
  return !parent || rows.head(parent.conversationId)?.erasedAt === null;
}
