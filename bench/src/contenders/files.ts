import { appendFile, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { bytesIn } from '../measure/folder.ts';
import { pooledTurn } from '../measure/turn.ts';
import type { Turn } from '../measure/turn.ts';
import { AgentStates, agentOf, messagesOf, taskAt } from './agent-state.ts';
import type { AgentState } from './agent-state.ts';
import type { Contender, Store } from './contender.ts';

/** A file a conversation, written anew for each turn: to a temporary name, synced, renamed, the folder synced. */
export const jsonRewriter: Contender = {
  name: 'json file, rewritten',
  kind: 'by hand',
  survives: 'power loss',
  setup: 'our choice',
  keeps: 'whole turns',
  writes: 'the whole conversation, with checkpoint and task; earlier states are gone',
  rewrites: true,
  missing: async () => undefined,
  open: async (folder) => new JsonRewriter(folder),
};

/** A line a turn at the end of a file a conversation, which nobody syncs: what most tools do. */
export const jsonlAppender: Contender = {
  name: 'jsonl file, not synced',
  kind: 'by hand',
  survives: 'process crash',
  setup: 'our choice',
  keeps: 'whole turns',
  writes: 'one line: messages, checkpoint, task',
  rewrites: false,
  missing: async () => undefined,
  open: async (folder) => new JsonlAppender(folder),
};

class JsonRewriter implements Store {
  readonly #folder: string;
  readonly #states = new AgentStates(messagesOf);

  constructor(folder: string) {
    this.#folder = folder;
  }

  async turn(conversation: string, turn: Turn): Promise<void> {
    await this.#write(conversation, this.#states.after(conversation, turn));
  }

  async grow(conversation: string, turns: number): Promise<void> {
    const state = this.#states.grown(conversation, turns);
    if (state) await this.#write(conversation, state);
  }

  async last(conversation: string, count: number): Promise<number> {
    const state = JSON.parse(await readFile(this.#path(conversation), 'utf8')) as AgentState; // as it was written
    return state.messages.slice(-count).length;
  }

  async sync(): Promise<string> {
    return 'fsync of the file before its rename, and of the folder after it';
  }

  async close(): Promise<number> {
    return bytesIn(this.#folder);
  }

  async #write(conversation: string, state: AgentState): Promise<void> {
    const path = this.#path(conversation);
    const file = await open(`${path}.new`, 'w');
    await file.writeFile(JSON.stringify(state));
    await file.sync();
    await file.close();
    await rename(`${path}.new`, path);
    const folder = await open(this.#folder, 'r');
    await folder.sync();
    await folder.close();
  }

  #path(conversation: string): string {
    return join(this.#folder, `${conversation}.json`);
  }
}

class JsonlAppender implements Store {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async turn(conversation: string, turn: Turn): Promise<void> {
    await appendFile(this.#path(conversation), lineOf(turn));
  }

  async grow(conversation: string, turns: number): Promise<void> {
    const lines = Array.from({ length: turns }, (_, number) => lineOf(pooledTurn(number)));
    await appendFile(this.#path(conversation), lines.join(''));
  }

  async last(conversation: string, count: number): Promise<number> {
    const lines = (await readFile(this.#path(conversation), 'utf8')).trimEnd().split('\n');
    return lines.flatMap((line) => (JSON.parse(line) as AgentState).messages).slice(-count).length; // our own lines
  }

  async sync(): Promise<string> {
    return 'none';
  }

  async close(): Promise<number> {
    return bytesIn(this.#folder);
  }

  #path(conversation: string): string {
    return join(this.#folder, `${conversation}.jsonl`);
  }
}

function lineOf(turn: Turn): string {
  return `${JSON.stringify({ messages: messagesOf(turn), agent: agentOf(turn), task: taskAt(turn.number) })}\n`;
}
