import type { Commitment, WorkingState } from '../../core/read/state.ts';
import type { ContextMemory, FullPolicy } from './policy.ts';
import type { ContextLeftOut, NoteKind } from './report.ts';
import type { TokenCounter } from './tokens.ts';

/** What is said after the transcript. */
export interface NoteSources {
  readonly state: WorkingState;
  readonly commitments: readonly Commitment[];
  /** Best first. */
  readonly memories: readonly ContextMemory[];
}

export interface Notes {
  /** Empty if there is nothing to say. */
  readonly text: string;
  readonly tokens: number;
  readonly leftOut: readonly ContextLeftOut[];
}

interface Item {
  readonly kind: NoteKind;
  readonly id: string;
  readonly line: string;
}

const HEADINGS: { readonly [Kind in NoteKind]: string } = {
  state: 'Working state:',
  commitment: 'Open commitments:',
  constraint: 'Constraints:',
  decision: 'Decisions:',
  memory: 'Memories:',
};

const OPENING = '<notes>';
const CLOSING = '</notes>';

/** The notes that fit, by importance; those that do not fit or exceed their number are listed. */
export function notesOf(sources: NoteSources, policy: FullPolicy, room: number, counter: TokenCounter): Notes {
  const { kept, leftOut } = limited(itemsOf(sources), policy);
  const taken: Item[] = [];
  let tokens = counter.count(OPENING) + counter.count(CLOSING) + 8;
  for (const item of kept) {
    const heading = taken.some((one) => one.kind === item.kind) ? 0 : counter.count(HEADINGS[item.kind]) + 1;
    const cost = counter.count(item.line) + 2 + heading;
    if (tokens + cost > room) leftOut.push({ what: item.kind, id: item.id, why: 'budget' });
    else {
      taken.push(item);
      tokens += cost;
    }
  }
  return taken.length === 0 ? { text: '', tokens: 0, leftOut } : { text: textOf(taken), tokens, leftOut };
}

function itemsOf({ state, commitments, memories }: NoteSources): readonly Item[] {
  const open = commitments.filter((one) => one.status === 'open');
  const fulfilled = (type: string) => commitments.filter((one) => one.status === 'fulfilled' && one.type === type);
  return [
    ...stateItems(state),
    ...open.map((one) => commitmentItem('commitment', one)),
    ...fulfilled('constraint').map((one) => commitmentItem('constraint', one)),
    ...fulfilled('decision')
      .toReversed()
      .map((one) => commitmentItem('decision', one)),
    ...memories.map(({ memoryId, text }): Item => ({ kind: 'memory', id: memoryId, line: `- ${text}` })),
  ];
}

function stateItems({ objective, stage, nextStep, blockers, plan }: WorkingState): readonly Item[] {
  const item = (id: string, line: string): Item => ({ kind: 'state', id, line });
  return [
    ...(objective === null ? [] : [item('objective', `- objective: ${objective}`)]),
    ...(stage === null ? [] : [item('stage', `- stage: ${stage}`)]),
    ...(nextStep === null ? [] : [item('nextStep', `- next step: ${nextStep}`)]),
    ...blockers.map((blocker, at) => item(`blockers[${at}]`, `- blocker: ${blocker}`)),
    ...plan.map((step, at) => item(`plan[${at}]`, `- plan: ${typeof step === 'string' ? step : JSON.stringify(step)}`)),
  ];
}

function commitmentItem(kind: NoteKind, { commitmentId, content }: Commitment): Item {
  return { kind, id: commitmentId, line: `- ${content}` };
}

function limited(
  items: readonly Item[],
  policy: FullPolicy,
): { readonly kept: readonly Item[]; readonly leftOut: ContextLeftOut[] } {
  const most = new Map<NoteKind, number>([
    ['memory', policy.memoryLimit],
    ['decision', policy.decisions],
  ]);
  const leftOut: ContextLeftOut[] = [];
  const kept = items.filter((item) => {
    const left = most.get(item.kind) ?? Number.POSITIVE_INFINITY;
    most.set(item.kind, left - 1);
    if (left > 0) return true;
    leftOut.push({ what: item.kind, id: item.id, why: 'limit' });
    return false;
  });
  return { kept, leftOut };
}

function textOf(items: readonly Item[]): string {
  const kinds = new Set(items.map((item) => item.kind));
  const sections = [...kinds].map((kind) => {
    const lines = items.filter((item) => item.kind === kind).map((item) => item.line);
    return [HEADINGS[kind], ...(kind === 'decision' ? lines.toReversed() : lines)].join('\n');
  });
  return [OPENING, ...sections, CLOSING].join('\n');
}
