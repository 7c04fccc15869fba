import type { Statement } from '../driver/driver.ts';
import type { Schema } from '../schema/schema-name.ts';

/** What an upload is called as long as its bytes are not all there, and what was given up, with its number. */
const UPLOAD = '+';
const GIVEN_UP = '-';

/** Parts that one statement removes. */
export const CLEARED_PARTS = 32;

/** Begins an upload; one that has begun goes on. */
export function beginUpload(schema: Schema, namespace: string, upload: string, b: string, now: number): Statement {
  const text = `INSERT INTO ${schema.sql}.blobs (ns, name, upload, b, touched) VALUES ($1, '${UPLOAD}' || $2, $2, $3, $4)
    ON CONFLICT (ns, name) DO NOTHING`;
  return { name: 'tk_begin_upload', text, values: [namespace, upload, b, now] };
}

/** Adds a part; answers a row where the upload is there. */
export function addPart(
  schema: Schema,
  namespace: string,
  upload: string,
  index: number,
  bytes: Uint8Array,
): Statement {
  const text = `INSERT INTO ${schema.sql}.parts (ns, b, i, bytes)
    SELECT $1, b, $3, decode($4, 'base64') FROM ${schema.sql}.blobs WHERE ns = $1 AND name = '${UPLOAD}' || $2
    ON CONFLICT (ns, b, i) DO UPDATE SET bytes = excluded.bytes RETURNING i`;
  return { name: 'tk_add_part', text, values: [namespace, upload, index, Buffer.from(bytes).toString('base64')] };
}

export function touchUpload(schema: Schema, namespace: string, upload: string, now: number): Statement {
  const text = `UPDATE ${schema.sql}.blobs SET touched = $3 WHERE ns = $1 AND name = '${UPLOAD}' || $2`;
  return { name: 'tk_touch_upload', text, values: [namespace, upload, now] };
}

/** Answers `name, parts` of the blob of an upload. */
export function findUpload(schema: Schema, namespace: string, upload: string): Statement {
  const text = `SELECT name, (SELECT count(*) FROM ${schema.sql}.parts p WHERE p.ns = $1 AND p.b = u.b)
    FROM ${schema.sql}.blobs u WHERE ns = $1 AND upload = $2`;
  return { name: 'tk_find_upload', text, values: [namespace, upload] };
}

/** Names the bytes of an upload by their digest. */
export function nameUpload(schema: Schema, namespace: string, upload: string, digest: string): Statement {
  const text = `UPDATE ${schema.sql}.blobs SET name = $3 WHERE ns = $1 AND name = '${UPLOAD}' || $2`;
  return { name: 'tk_name_upload', text, values: [namespace, upload, digest] };
}

export function giveUpUpload(schema: Schema, namespace: string, upload: string): Statement {
  return giveUp(schema, namespace, [UPLOAD + upload]);
}

/** Gives up blobs by their names: their parts are to go. */
export function giveUp(schema: Schema, namespace: string, names: readonly string[]): Statement {
  const text = `UPDATE ${schema.sql}.blobs SET name = '${GIVEN_UP}' || b WHERE ns = $1 AND name = ANY ($2::text[])`;
  return { name: 'tk_give_up_blobs', text, values: [namespace, names] };
}

/** Gives up uploads that nobody has touched since. */
export function expireUploads(schema: Schema, namespace: string, since: number): Statement {
  const text = `UPDATE ${schema.sql}.blobs SET name = '${GIVEN_UP}' || b
    WHERE ns = $1 AND name LIKE '${UPLOAD}%' AND touched <= $2`;
  return { name: 'tk_expire_uploads', text, values: [namespace, since] };
}

/** Answers `b` of a blob that was given up. */
export function givenUp(schema: Schema, namespace: string): Statement {
  const text = `SELECT b FROM ${schema.sql}.blobs WHERE ns = $1 AND name LIKE '${GIVEN_UP}%' ORDER BY name LIMIT 1`;
  return { name: 'tk_given_up_blob', text, values: [namespace] };
}

/** Removes some parts of a blob; answers a row for each. */
export function removeParts(schema: Schema, namespace: string, b: string): Statement {
  const parts = `${schema.sql}.parts`;
  const text = `DELETE FROM ${parts} WHERE ns = $1 AND b = $2
    AND i IN (SELECT i FROM ${parts} WHERE ns = $1 AND b = $2 ORDER BY i LIMIT ${CLEARED_PARTS}) RETURNING i`;
  return { name: 'tk_remove_parts', text, values: [namespace, b] };
}

/** Removes a blob that has no parts any more. */
export function removeBlob(schema: Schema, namespace: string, b: string): Statement {
  const text = `DELETE FROM ${schema.sql}.blobs WHERE ns = $1 AND b = $2
    AND NOT EXISTS (SELECT FROM ${schema.sql}.parts WHERE ns = $1 AND b = $2)`;
  return { name: 'tk_remove_blob', text, values: [namespace, b] };
}

/** Answers a part of the bytes that a digest names, in base64. */
export function readPart(schema: Schema, namespace: string, digest: string, index: number): Statement {
  const text = `SELECT encode(p.bytes, 'base64')
    FROM (SELECT b FROM ${schema.sql}.blobs WHERE ns = $1 AND name = $2 OFFSET 0) u CROSS JOIN LATERAL (
      SELECT bytes FROM ${schema.sql}.parts p WHERE p.ns = $1 AND p.b = u.b AND p.i = $3 OFFSET 0
    ) p`;
  return { name: 'tk_read_part', text, values: [namespace, digest, index] };
}
