import type { HeadQuery, Row, RowRange, RowReader, RowValue } from '../core/backend.ts';
import type { Head } from '../core/head.ts';
import type { ConversationId, NamespaceId } from '../core/ids.ts';
import type { LogRecord } from '../core/log.ts';
import { applyEdit } from './edit.ts';
import { INDEX } from './index-keys.ts';
import type { IndexState } from './index-state.ts';
import { unpackPlace } from './place.ts';
import { corruptAt, placeName } from './segments.ts';
import type { Segments } from './segments.ts';

/** One namespace as core reads it: rows and heads from the index, log records from the segments. */
export class NamespaceRows implements RowReader {
  readonly #index: IndexState;
  readonly #segments: Segments;
  readonly #namespace: NamespaceId;

  constructor(index: IndexState, segments: Segments, namespace: NamespaceId) {
    this.#index = index;
    this.#segments = segments;
    this.#namespace = namespace;
  }

  head(conversation: ConversationId): Head | undefined {
    return conversation === '' ? undefined : this.#index.head(this.#namespace, conversation);
  }

  get(conversation: ConversationId, key: string): RowValue | undefined {
    return this.#index.get(this.#namespace, conversation, key);
  }

  scan(conversation: ConversationId, range: RowRange): readonly Row[] {
    const from = range.from < INDEX.coreStart ? INDEX.coreStart : range.from;
    return this.#index.scan(this.#namespace, conversation, { ...range, from });
  }

  log(conversation: ConversationId, version: number): LogRecord | undefined {
    const row = this.#index.get(this.#namespace, conversation, INDEX.place(version));
    if (!row) return undefined;
    const place = unpackPlace(row);
    const { meta, log } = this.#segments.commit(place);
    if (meta.ns !== this.#namespace || meta.conversation !== conversation || meta.version !== version) {
      throw corruptAt(placeName(place), `it holds version ${meta.version} of another place`);
    }
    return place.edit ? applyEdit(log, place.edit) : log;
  }

  heads(query: HeadQuery): readonly Head[] {
    return this.#index.heads(this.#namespace, query);
  }
}
