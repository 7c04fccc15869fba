import type { Message } from '../../core/read/message.ts';
import type { Conversation } from '../../ledger/conversation.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { VerifyReport } from '../../ledger/upkeep/verify.ts';
import { demoCheckpointId, demoCommitId, demoTurnId, demoWords, stepChanges } from './demo-turns.ts';
import type { DemoNames } from './demo-turns.ts';
import type { Killed } from './kill.ts';

/** What was found after the kill, and what the store says of itself. */
export interface Proof {
  readonly acknowledged: number;
  /** Acknowledged commits that are there with everything that was in them. */
  readonly acknowledgedWhole: number;
  readonly onTheirWay: number;
  /** Of those on their way: there whole. */
  readonly whole: number;
  /** Of those on their way: nothing of them there. */
  readonly absent: number;
  /** Commits of which some is there and some is not. There must be none. */
  readonly inPart: number;
  /** Commits sent again with their ids, and how many of them the store answered as done before. */
  readonly sentAgain: number;
  readonly replayed: number;
  /** Turns of the writer that the path holds at the end: each once. */
  readonly turns: number;
  readonly verify: VerifyReport;
  readonly holds: boolean;
}

/** Looks for every commit that the dead writer sent, sends the open ones again, and verifies the store. */
export async function proveAfterKill(
  ledger: Ledger,
  conversation: Conversation,
  names: DemoNames,
  killed: Killed,
  signal: AbortSignal,
): Promise<Proof> {
  const found = await presence(conversation, names, killed);
  const of = (turns: readonly number[], what: Presence) => turns.filter((turn) => found.get(turn) === what).length;
  const verifyAfterKill = await ledger.verify({ signal });
  let replayed = 0;
  for (const turn of killed.onTheirWay) {
    const receipt = await conversation.commit(stepChanges(names, turn), { idempotencyKey: demoCommitId(names, turn) });
    if (receipt.replayed) replayed++;
  }
  const all = [...killed.acknowledged, ...killed.onTheirWay];
  const after = await presence(conversation, names, killed);
  const counts = {
    acknowledged: killed.acknowledged.length,
    acknowledgedWhole: of(killed.acknowledged, 'whole'),
    onTheirWay: killed.onTheirWay.length,
    whole: of(killed.onTheirWay, 'whole'),
    absent: of(killed.onTheirWay, 'absent'),
    inPart: of(all, 'in_part'),
    sentAgain: killed.onTheirWay.length,
    replayed,
    turns: all.filter((turn) => after.get(turn) === 'whole').length,
    verify: verifyAfterKill,
  };
  const holds =
    counts.acknowledgedWhole === counts.acknowledged &&
    counts.inPart === 0 &&
    counts.replayed === counts.whole &&
    counts.turns === all.length &&
    verifyAfterKill.faults.length === 0;
  return { ...counts, holds };
}

type Presence = 'whole' | 'absent' | 'in_part';

/** What is there of each of the writer's commits. */
async function presence(
  conversation: Conversation,
  names: DemoNames,
  killed: Killed,
): Promise<ReadonlyMap<number, Presence>> {
  const messages = new Map<string, Message[]>();
  for await (const message of conversation.read()) {
    const turnId = message.turnId ?? '';
    messages.set(turnId, [...(messages.get(turnId) ?? []), message]);
  }
  const found = new Map<number, Presence>();
  for (const turn of [...killed.acknowledged, ...killed.onTheirWay]) {
    const said = messages.get(demoTurnId(names, turn)) ?? [];
    const checkpoint = await conversation.checkpoints.get(demoCheckpointId(names), turn);
    found.set(turn, presenceOf(said, turn, JSON.stringify(checkpoint?.payload)));
  }
  return found;
}

function presenceOf(messages: readonly Message[], turn: number, payload: string | undefined): Presence {
  const { prompt, answer } = demoWords(turn);
  const said = messages.map(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')).join(''));
  if (said.length === 0 && payload === undefined) return 'absent';
  const isWhole =
    said.length === 2 && said[0] === prompt && said[1] === answer && payload?.includes(`"turn":${turn}}`) === true;
  return isWhole ? 'whole' : 'in_part';
}
