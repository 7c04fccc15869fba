import type { Conversation, Ledger } from 'turnkeep';
import { NAMESPACE, turnChanges, turnKey } from './turns.ts';

/** What a killed writer had said of one conversation: the last turn that it sent, and the last that was acknowledged. */
export interface Said {
  readonly sent: number;
  readonly acknowledged: number;
}

/** What the store holds of it: how many turns, and whether the one in flight at the kill was among them. */
export interface LeftOver {
  readonly faults: readonly string[];
  readonly inFlight: boolean;
  readonly inFlightKept: boolean;
}

/**
 * The law: an acknowledged commit is there whole; one that was in flight is there whole or not at all; sent again it is there
 * once. Answers the faults.
 */
export async function checkConversation(ledger: Ledger, name: string, said: Said): Promise<LeftOver> {
  const conversation = ledger.namespace(NAMESPACE).conversation(name);
  const turns = (await conversation.exists()) ? (await conversation.info()).version : 0;
  const faults: string[] = [];
  if (turns < said.acknowledged)
    faults.push(`${name}: ${said.acknowledged} turns were acknowledged, ${turns} are there`);
  if (turns > said.sent) faults.push(`${name}: ${said.sent} turns were sent, ${turns} are there`);
  if (turns > 0) faults.push(...(await checkParts(conversation, name, turns)));
  const inFlight = said.sent > said.acknowledged;
  if (inFlight) faults.push(...(await resend(conversation, name, said.sent, turns)));
  return { faults, inFlight, inFlightKept: inFlight && turns === said.sent };
}

/** Every part of every turn: none of them is there without the others. */
async function checkParts(conversation: Conversation, name: string, turns: number): Promise<readonly string[]> {
  const info = await conversation.info();
  const found = {
    messages: info.messageCount,
    lastSequence: info.lastSequence,
    turns: info.turnCount,
    revision: (await conversation.checkpoints.get('agent'))?.revision,
    step: JSON.stringify((await conversation.checkpoints.get('agent'))?.payload['step']),
    task: (await conversation.tasks.active())?.status,
    commitments: (await conversation.commitments.list()).length,
    objective: (await conversation.state()).objective,
  };
  const wanted = {
    messages: turns * 2,
    lastSequence: turns * 2,
    turns,
    revision: turns - 1,
    step: JSON.stringify({ json: { number: turns } }),
    task: turns === 1 ? 'created' : turns % 2 === 0 ? 'running' : 'awaiting_approval',
    commitments: turns,
    objective: `turn ${turns}`,
  };
  const faults = Object.entries(wanted)
    .filter(([part, value]) => found[part as keyof typeof found] !== value)
    .map(([part, value]) => `${name}: ${part} is ${found[part as keyof typeof found]}, not ${value}`);
  let number = 0;
  for await (const message of conversation.read()) {
    number += 1;
    if (message.sequence !== number) faults.push(`${name}: message ${number} has sequence ${message.sequence}`);
  }
  return faults;
}

/** The commit in flight, sent again: done once, whatever became of it. */
async function resend(
  conversation: Conversation,
  name: string,
  sent: number,
  turns: number,
): Promise<readonly string[]> {
  const receipt = await conversation.commit(turnChanges(sent), { idempotencyKey: turnKey(sent) });
  const faults: string[] = [];
  if (receipt.version !== sent) faults.push(`${name}: turn ${sent}, sent again, became version ${receipt.version}`);
  if (receipt.replayed !== turns >= sent)
    faults.push(`${name}: turn ${sent}, sent again, replayed: ${receipt.replayed}`);
  return faults;
}
