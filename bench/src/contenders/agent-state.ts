import { pooledTurn } from '../measure/turn.ts';
import type { Turn } from '../measure/turn.ts';

export interface PlainMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** What an agent holds in memory of a conversation and hands to its store: all messages, its notes, its task. */
export interface AgentState<Message = PlainMessage> {
  readonly messages: readonly Message[];
  readonly agent: { readonly turn: number; readonly note: string; readonly constant?: string | undefined };
  readonly task: { readonly id: string; readonly status: string };
}

const STATUSES = ['created', 'running', 'completed'];

/** The states of the conversations of a store that keeps them whole, their messages as that store has them. */
export class AgentStates<Message = PlainMessage> {
  readonly #messages = new Map<string, Message[]>();
  readonly #messagesOf: (turn: Turn) => readonly Message[];

  constructor(messagesOf: (turn: Turn) => readonly Message[]) {
    this.#messagesOf = messagesOf;
  }

  /** The state after the turn. */
  after(conversation: string, turn: Turn): AgentState<Message> {
    const messages = this.#messages.get(conversation) ?? [];
    this.#messages.set(conversation, messages);
    messages.push(...this.#messagesOf(turn));
    return { messages, agent: agentOf(turn), task: taskAt(turn.number) };
  }

  /** The state after so many turns of a conversation that had none. */
  grown(conversation: string, turns: number): AgentState<Message> | undefined {
    let state: AgentState<Message> | undefined;
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
