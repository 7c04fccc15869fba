import type { CheckpointAdvance, CheckpointCreate, CheckpointWrite } from '../core/change.ts';
import { assertId } from '../core/ids.ts';
import type { CheckpointId } from '../core/ids.ts';
import { readCheckpoint, readPendingWrites } from '../core/read/checkpoint.ts';
import type { Checkpoint, PendingWrite } from '../core/read/checkpoint.ts';
import type { Receipt } from '../core/receipt.ts';
import { eventOf } from './receipt-event.ts';
import type { WriteOptions } from './access.ts';
import type { ConversationAccess } from './conversation-access.ts';
import { assertFits, count, ownList, withFields } from './given.ts';

/** The resumable states of agents in a conversation. */
export class Checkpoints {
  readonly #access: ConversationAccess;

  constructor(access: ConversationAccess) {
    this.#access = access;
  }

  /** Creates revision 0; `checkpoint_exists` if there is one. Returns the checkpoint's id. */
  async create(
    checkpoint: Omit<CheckpointCreate, 'kind'>,
    options?: WriteOptions,
  ): Promise<Receipt & { readonly checkpointId: CheckpointId }> {
    const receipt = await this.#access.write(
      [withFields(checkpoint, 'checkpoint', { kind: 'checkpoint.create' })],
      options,
    );
    return { ...receipt, checkpointId: eventOf(receipt, 'checkpoint.create').checkpointId };
  }

  /** Advances from exactly the revision that was read; `checkpoint_conflict` otherwise. Returns the new revision. */
  async advance(
    checkpointId: CheckpointId,
    next: Omit<CheckpointAdvance, 'kind' | 'checkpointId'>,
    options?: WriteOptions,
  ): Promise<Receipt & { readonly revision: number }> {
    const receipt = await this.#access.write(
      [withFields(next, 'next', { kind: 'checkpoint.advance', checkpointId })],
      options,
    );
    return { ...receipt, revision: eventOf(receipt, 'checkpoint.advance').revision };
  }

  /** Adds pending writes beside a revision, all of them or none. */
  async write(
    checkpointId: CheckpointId,
    revision: number,
    writes: readonly Omit<CheckpointWrite, 'kind' | 'checkpointId' | 'revision'>[],
    options?: WriteOptions,
  ): Promise<Receipt> {
    const said = { kind: 'checkpoint.write' as const, checkpointId, revision };
    const changes = ownList(writes, 'writes').map((write, at) => withFields(write, `writes[${at}]`, said));
    return this.#access.write(changes, options);
  }

  /** A whole revision: the newest, or the one named. Every digest is checked. */
  async get(checkpointId: CheckpointId, revision?: number): Promise<Checkpoint | undefined> {
    assertId(checkpointId, 'checkpointId');
    if (revision !== undefined) assertFits(revision, count, 'revision');
    return this.#access.view(({ tree, bodies }) => readCheckpoint(tree, bodies, checkpointId, revision));
  }

  /** The pending writes beside a revision, by task path, task and index. */
  async pendingWrites(checkpointId: CheckpointId, revision: number): Promise<readonly PendingWrite[]> {
    assertId(checkpointId, 'checkpointId');
    assertFits(revision, count, 'revision');
    return this.#access.view(({ tree, bodies }) => readPendingWrites(tree, bodies, checkpointId, revision));
  }
}
