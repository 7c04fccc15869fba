import { pooledTurn } from '../measure/turn.ts';
import type { Turn } from '../measure/turn.ts';

export interface PlainMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** What an agent holds in memory of a conversation and hands to its store: all messages, its notes, its task. */
export interface AgentState {
  readonly messages: readonly PlainMessage[];
  readonly agent: { readonly turn: number; readonly note: string; readonly constant?: string | undefined };
  readonly task: { readonly id: string; readonly status: string };
}

const STATUSES = ['created', 'running', 'completed'];

/** The states of the conversations of a store whose peers keep them whole. */
export class AgentStates {
  readonly #messages = new Map<string, PlainMessage[]>();

  /** The state after the turn. */
  after(conversation: string, turn: Turn): AgentState {
    const messages = this.#messages.get(conversation) ?? [];
    this.#messages.set(conversation, messages);
    messages.push(...messagesOf(turn));
    return { messages, agent: agentOf(turn), task: taskAt(turn.number) };
  }

  /** The state after so many turns of a conversation that had none. */
  grown(conversation: string, turns: number): AgentState | undefined {
    let state: AgentState | undefined;
    for (let number = 0; number < turns; number++) state = this.after(conversation, pooledTurn(number));
    return state;
  }
}

export function agentOf({ number, note, constant }: Turn): AgentState['agent'] {
  return { turn: number, note, constant };
}

export function messagesOf(turn: Turn): readonly PlainMessage[] {
  return [
    { role: 'user', content: turn.prompt },
    { role: 'assistant', content: turn.answer },
  ];
}

export function taskAt(turn: number): AgentState['task'] {
  return { id: `task-${Math.floor(turn / 3)}`, status: STATUSES[turn % 3] ?? '' };
}
