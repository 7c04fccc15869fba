import type { Ledger } from 'turnkeep';
import { conversationOf, NAMESPACE, turnOf } from './workload.ts';

/** What writers said of their commits. */
export interface Said {
  readonly sent: Set<string>;
  /** Version by commit. */
  readonly acknowledged: Map<string, number>;
  /** Code by commit. */
  readonly failed: Map<string, string>;
}

export function nothingSaid(): Said {
  return { sent: new Set(), acknowledged: new Map(), failed: new Map() };
}

export function hear({ sent, acknowledged, failed }: Said, line: string): void {
  const [word, id = '', rest = ''] = line.split(' ');
  if (word === 'send') sent.add(id);
  else if (word === 'ack') acknowledged.set(id, Number(rest));
  else failed.set(id, rest);
}

interface Happened {
  readonly id: string;
  readonly conversation: string;
  readonly version: number;
}

/**
 * The law: versions and sequences of a conversation are linear, without a gap or a repeat; an acknowledged commit is there at
 * the version that was said, once; one that was refused is not there; one whose outcome was not told is there once or not at
 * all, and sent again it is there once. The feed tells each commit once, in order. Answers the faults.
 */
export async function checkHistory(ledger: Ledger, said: Said): Promise<readonly string[]> {
  const happened: Happened[] = [];
  const faults: string[] = [];
  for await (const event of ledger.namespace(NAMESPACE).watch({ untilNow: true })) {
    if (event.position !== happened.length + 1)
      faults.push(`feed: position ${event.position} follows ${happened.length}`);
    happened.push({ id: event.commitId, conversation: event.conversationId, version: event.version });
  }
  faults.push(...versionFaults(happened), ...saidFaults(happened, said));
  for (const conversation of new Set(happened.map((one) => one.conversation)))
    faults.push(...(await messageFaults(ledger, conversation, happened)));
  faults.push(...(await resend(ledger, happened, said)));
  const report = await ledger.verify();
  return [...faults, ...report.faults.map((fault) => `${fault.kind} at ${fault.place}: ${fault.reason}`)];
}

function versionFaults(happened: readonly Happened[]): readonly string[] {
  const last = new Map<string, number>();
  const faults: string[] = [];
  for (const { conversation, version, id } of happened) {
    const before = last.get(conversation) ?? 0;
    if (version !== before + 1) faults.push(`${conversation}: version ${version} (${id}) follows ${before}`);
    last.set(conversation, version);
  }
  return faults;
}

function saidFaults(happened: readonly Happened[], { sent, acknowledged, failed }: Said): readonly string[] {
  const faults: string[] = [];
  const byId = new Map<string, Happened>();
  for (const one of happened) {
    if (byId.has(one.id)) faults.push(`${one.id} happened twice`);
    if (!sent.has(one.id)) faults.push(`${one.id} happened and was never sent`);
    if (one.conversation !== conversationOf(one.id)) faults.push(`${one.id} happened to ${one.conversation}`);
    byId.set(one.id, one);
  }
  for (const [id, version] of acknowledged) {
    const found = byId.get(id)?.version;
    if (found !== version) faults.push(`${id} was acknowledged at version ${version}, and is at ${found ?? 'none'}`);
  }
  for (const [id, code] of failed) {
    if (code !== 'outcome_unknown' && byId.has(id)) faults.push(`${id} was refused (${code}), and is there`);
  }
  return faults;
}

/** Messages stand two by two, in the order of the commits, with sequences from 1 on. */
async function messageFaults(ledger: Ledger, name: string, happened: readonly Happened[]): Promise<readonly string[]> {
  const ids = happened.filter((one) => one.conversation === name).map((one) => one.id);
  const expected = ids.flatMap((id) => [`user of ${id}`, `assistant of ${id}`]);
  const faults: string[] = [];
  let number = 0;
  for await (const message of ledger.namespace(NAMESPACE).conversation(name).read()) {
    const [part] = message.parts;
    const text = part?.type === 'text' ? part.text : '';
    if (text !== expected[number])
      faults.push(`${name}: message ${number + 1} is "${text}", not "${expected[number]}"`);
    number += 1;
    if (message.sequence !== number) faults.push(`${name}: message ${number} has sequence ${message.sequence}`);
  }
  if (number !== expected.length) faults.push(`${name}: ${number} messages of ${expected.length}`);
  return faults.slice(0, 5);
}

/** Commits whose outcome nobody heard, sent again: done once, whatever became of them. */
async function resend(ledger: Ledger, happened: readonly Happened[], said: Said): Promise<readonly string[]> {
  const known = new Map(happened.map((one) => [one.id, one.version]));
  const faults: string[] = [];
  for (const id of said.sent) {
    const refused = said.failed.get(id);
    if (said.acknowledged.has(id) || (refused !== undefined && refused !== 'outcome_unknown')) continue;
    const conversation = ledger.namespace(NAMESPACE).conversation(conversationOf(id));
    const receipt = await conversation.commit(turnOf(id), { idempotencyKey: id });
    const was = known.get(id);
    if (receipt.replayed !== (was !== undefined) || (was !== undefined && was !== receipt.version))
      faults.push(
        `${id} was at ${was ?? 'none'}; sent again: version ${receipt.version}, replayed ${receipt.replayed}`,
      );
    said.acknowledged.set(id, receipt.version);
  }
  return faults;
}
