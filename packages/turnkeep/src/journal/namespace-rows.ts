import type { HeadQuery, Row, RowRange, RowReader, RowValue } from '../core/backend.ts';
import type { Head } from '../core/head.ts';
import type { ConversationId, NamespaceId } from '../core/ids.ts';
import type { LogRecord } from '../core/log.ts';
import { assertCertain, assertNoDoubt } from './log/doubts.ts';
import type { Doubt } from './log/doubts.ts';
import { applyEdit } from './log/edit.ts';
import { INDEX } from './index/index-keys.ts';
import type { IndexState } from './index/index-state.ts';
import { unpackPlace } from './log/place.ts';
import { corruptAt, placeName } from './log/segments.ts';
import type { Segments } from './log/segments.ts';
import type { StoreParts } from './store-parts.ts';

/**
 * One namespace as core reads it: rows and heads from the index, log records from the segments. Of a conversation that may
 * have lost a commit only the log records that are there are answered, everything else is `corrupt`.
 */
export class NamespaceRows implements RowReader {
  readonly #index: IndexState;
  readonly #segments: Segments;
  readonly #doubts: readonly Doubt[];
  readonly #namespace: NamespaceId;

  constructor({ index, segments, folds }: StoreParts, namespace: NamespaceId) {
    this.#index = index;
    this.#segments = segments;
    this.#doubts = folds.state.doubts;
    this.#namespace = namespace;
  }

  head(conversation: ConversationId): Head | undefined {
    assertCertain(this.#doubts, conversation);
    return conversation === '' ? undefined : this.#index.head(this.#namespace, conversation);
  }

  get(conversation: ConversationId, key: string): RowValue | undefined {
    assertCertain(this.#doubts, conversation);
    return this.#index.get(this.#namespace, conversation, key);
  }

  scan(conversation: ConversationId, range: RowRange): readonly Row[] {
    assertCertain(this.#doubts, conversation);
    const from = range.from < INDEX.coreStart ? INDEX.coreStart : range.from;
    return this.#index.scan(this.#namespace, conversation, { ...range, from });
  }

  log(conversation: ConversationId, version: number): LogRecord | undefined {
    const row = this.#index.get(this.#namespace, conversation, INDEX.place(version));
    if (!row) {
      assertCertain(this.#doubts, conversation);
      return undefined;
    }
    const place = unpackPlace(row);
    const { meta, log } = this.#segments.commit(place);
    if (meta.ns !== this.#namespace || meta.conversation !== conversation || meta.version !== version) {
      throw corruptAt(placeName(place), `it holds version ${meta.version} of another place`);
    }
    const edited = place.edit ? applyEdit(log, place.edit) : log;
    return this.#segments.tier(place) === 'cool' ? { ...edited, tier: 'cool' } : edited;
  }

  heads(query: HeadQuery): readonly Head[] {
    assertNoDoubt(this.#doubts);
    return this.#index.heads(this.#namespace, query);
  }
}
