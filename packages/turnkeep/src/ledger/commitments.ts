import type { CommitmentAdd, CommitmentSelector } from '../core/change.ts';
import type { CommitmentId, TurnId } from '../core/ids.ts';
import { readCommitments } from '../core/read/state.ts';
import type { Commitment } from '../core/read/state.ts';
import type { Receipt } from '../core/receipt.ts';
import { eventOf } from './receipt-event.ts';
import type { WriteOptions } from './access.ts';
import type { ConversationAccess } from './conversation-access.ts';
import { assertWriteOptions } from './access.ts';
import { assertChecked, oneOf, text, withFields } from './given.ts';
import type { Checks } from './given.ts';
import { pathOf, PATH } from './path-reads.ts';
import type { PathOptions } from './path-reads.ts';

interface ListOptions extends PathOptions {
  readonly status?: Commitment['status'] | undefined;
  readonly type?: string | undefined;
}

const LIST: Checks<ListOptions> = { ...PATH, status: oneOf('open', 'fulfilled', 'expired'), type: text };

/** The promises and decisions of a conversation. Readings follow one path: the active one unless a leaf is named. */
export class Commitments {
  readonly #access: ConversationAccess;

  constructor(access: ConversationAccess) {
    this.#access = access;
  }

  /** Adds an open commitment; returns its id. */
  async add(
    commitment: Omit<CommitmentAdd, 'kind'>,
    options?: WriteOptions,
  ): Promise<Receipt & { readonly commitmentId: CommitmentId }> {
    const receipt = await this.#access.write(
      [withFields(commitment, 'commitment', { kind: 'commitment.add' })],
      options,
    );
    return { ...receipt, commitmentId: eventOf(receipt, 'commitment.add').commitmentId };
  }

  /** Fulfils one commitment, or every open one whose content contains a text; returns their ids. */
  async resolve(
    which: CommitmentSelector,
    options: WriteOptions & { readonly turnId?: TurnId | undefined } = {},
  ): Promise<readonly CommitmentId[]> {
    assertWriteOptions(options);
    const receipt = await this.#access.write([{ kind: 'commitment.resolve', which, turnId: options.turnId }], options);
    return eventOf(receipt, 'commitment.resolve').commitmentIds;
  }

  /** Expires one commitment, or every open one whose content contains a text; returns their ids. */
  async expire(
    which: CommitmentSelector,
    options: WriteOptions & { readonly turnId?: TurnId | undefined } = {},
  ): Promise<readonly CommitmentId[]> {
    assertWriteOptions(options);
    const receipt = await this.#access.write([{ kind: 'commitment.expire', which, turnId: options.turnId }], options);
    return eventOf(receipt, 'commitment.expire').commitmentIds;
  }

  /** Commitments in the order they were added: all of them, or those of a status or a type. */
  async list(options: ListOptions = {}): Promise<readonly Commitment[]> {
    const all = await this.#access.view((view) => {
      const { path, at } = pathOf(view, options, LIST);
      return readCommitments(view.tree, view.bodies, path, at);
    });
    const { status } = options;
    const type = options.type?.trim().toLowerCase(); // as a type is stored
    return all.filter((one) => (status ?? one.status) === one.status && (type ?? one.type) === one.type);
  }

  /** What is promised and not yet done. */
  async openLoops(options: PathOptions = {}): Promise<readonly Commitment[]> {
    assertChecked(options, PATH);
    return this.list({ ...options, status: 'open' });
  }

  /** The contents of fulfilled commitments of type `constraint`, without that prefix. */
  async confirmedConstraints(options: PathOptions = {}): Promise<readonly string[]> {
    return this.#fulfilled('constraint', options);
  }

  /** The contents of fulfilled commitments of type `decision`, without that prefix, oldest first. */
  async recentDecisions(options: PathOptions = {}): Promise<readonly string[]> {
    return this.#fulfilled('decision', options);
  }

  async #fulfilled(type: 'constraint' | 'decision', options: PathOptions): Promise<readonly string[]> {
    assertChecked(options, PATH);
    const found = await this.list({ ...options, status: 'fulfilled', type });
    return found.map((one) => withoutPrefix(one.content.trim(), type));
  }
}

function withoutPrefix(content: string, type: string): string {
  const prefix = `${type}:`;
  return content.toLowerCase().startsWith(prefix) ? content.slice(prefix.length).trim() : content;
}
