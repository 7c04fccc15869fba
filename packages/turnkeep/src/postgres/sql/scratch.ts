import type { ScratchPlace } from '../../core/backend.ts';
import type { Statement } from '../driver/driver.ts';
import type { Schema } from '../schema/schema-name.ts';

export function putScratch(schema: Schema, place: ScratchPlace, value: string): Statement {
  const text = `INSERT INTO ${schema.sql}.scratch (ns, id, k, v) VALUES ($1, $2, $3, $4)
    ON CONFLICT (ns, id, k) DO UPDATE SET v = excluded.v`;
  return { name: 'tk_put_scratch', text, values: [place.namespace, place.conversationId, place.key, value] };
}

/** Answers `v`. */
export function readScratch(schema: Schema, place: ScratchPlace): Statement {
  const text = `SELECT v FROM ${schema.sql}.scratch WHERE ns = $1 AND id = $2 AND k = $3`;
  return { name: 'tk_read_scratch', text, values: [place.namespace, place.conversationId, place.key] };
}

export function deleteScratch(schema: Schema, place: ScratchPlace): Statement {
  const text = `DELETE FROM ${schema.sql}.scratch WHERE ns = $1 AND id = $2 AND k = $3`;
  return { name: 'tk_delete_scratch', text, values: [place.namespace, place.conversationId, place.key] };
}

/** Answers `id` and `k`. */
export function listScratch(schema: Schema, namespace: string): Statement {
  const text = `SELECT id, k FROM ${schema.sql}.scratch WHERE ns = $1 ORDER BY id, k`;
  return { name: 'tk_list_scratch', text, values: [namespace] };
}
