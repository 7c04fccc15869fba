import { join } from 'node:path';
import { openLedger } from 'turnkeep';
import type { Change, Conversation } from 'turnkeep';
import type { Context } from '../workload.ts';
import { textOf } from './turn.ts';

/** A large store: conversations of 600 messages, and one that a tenth of all messages is in. */
export interface Library {
  readonly backend: 'sqlite' | 'journal';
  readonly url: string;
  readonly messages: number;
  /** Milliseconds that it took to build, and to bring its indexes up to date. */
  readonly builtMs: number;
  readonly indexedMs: number;
}

export const NAMESPACE = 'bench';
export const LONG = 'long';

const SHORT_MESSAGES = 600;
const TURNS_A_COMMIT = 20;
/** Conversations that grow at a time, each a commit after the other: they share syncs. */
const WRITERS = 64;
const MESSAGE_CHARACTERS = 200;

/** What is planted in the words, and in how many messages of so many. */
export const PLANTED: readonly (readonly [text: string, what: string, times: (messages: number) => number])[] = [
  ['zyzzyva', 'a rare word', () => 2],
  ['quokka', 'a common word', (messages) => messages / 1_000],
  ['東京', 'two characters of Chinese', () => 20],
  ['🦊', 'an emoji', () => 20],
];

/** The run's library on a backend: 1,000,000 messages in a full run, through the public API. */
export function libraryOf(context: Context, backend: 'sqlite' | 'journal'): Promise<Library> {
  const messages = context.pick(1_000_000, 6_000);
  return context.shared(`library ${backend}`, (folder) => build(backend, join(folder, 'store'), messages));
}

async function build(backend: 'sqlite' | 'journal', place: string, messages: number): Promise<Library> {
  const url = `${backend}:${place}`;
  const ledger = await openLedger(url);
  const namespace = ledger.namespace(NAMESPACE);
  const words = new Words(messages);
  const waiting = [
    { conversation: namespace.conversation(LONG), messages: messages / 10 },
    ...Array.from({ length: (messages * 0.9) / SHORT_MESSAGES }, (_, at) => ({
      conversation: namespace.conversation(`short-${at}`),
      messages: SHORT_MESSAGES,
    })),
  ];
  const start = performance.now();
  await Promise.all(
    Array.from({ length: WRITERS }, async () => {
      for (let next = waiting.shift(); next; next = waiting.shift())
        await write(next.conversation, next.messages, words);
    }),
  );
  const builtMs = performance.now() - start;
  await ledger.maintain();
  const indexedMs = performance.now() - start - builtMs;
  await ledger.close();
  return { backend, url, messages, builtMs, indexedMs };
}

async function write(conversation: Conversation, messages: number, words: Words): Promise<void> {
  for (let left = messages / 2; left > 0; left -= TURNS_A_COMMIT) {
    const turns = Array.from({ length: Math.min(left, TURNS_A_COMMIT) }, () => turnChanges(words));
    await conversation.commit(turns.flat());
  }
}

function turnChanges(words: Words): readonly Change[] {
  return [
    { kind: 'turn.record', origin: 'bench' },
    { kind: 'message.append', message: { role: 'user', parts: [{ type: 'text', text: words.next() }] } },
    { kind: 'message.append', message: { role: 'assistant', parts: [{ type: 'text', text: words.next() }] } },
  ];
}

/** The words of one message after the other, with what is planted evenly among them. */
class Words {
  readonly #planted: readonly (readonly [text: string, every: number])[];
  #made = 0;

  constructor(messages: number) {
    this.#planted = PLANTED.map(([text, , times]) => [text, Math.floor(messages / times(messages))]);
  }

  next(): string {
    this.#made += 1;
    const planted = this.#planted.filter(([, every]) => this.#made % every === every >> 1).map(([text]) => text);
    return [textOf(MESSAGE_CHARACTERS), ...planted].join(' ');
  }
}
