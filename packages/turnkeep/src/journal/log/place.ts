import type { RowValue } from '../../core/backend.ts';
import type { Redaction } from '../../core/log.ts';
import type { Words } from './edit.ts';

/** Where the line of a commit stands, and which of its words are gone. */
export interface Place {
  readonly segment: number;
  readonly byte: number;
  /** Bytes of its frame, the line feed not counted. */
  readonly length: number;
  readonly edit?: Words | undefined;
}

/** A row. An archive answers the bytes of its segment at the same places. */
export function packPlace({ segment, byte, length, edit }: Place): RowValue {
  if (!edit) return [segment, byte, length];
  return [segment, byte, length, edit.header, edit.nonce, edit.gone, (edit.redactions ?? null) as RowValue[number]];
}

export function unpackPlace(value: RowValue): Place {
  const [segment, byte, length, header, nonce, gone, redactions] = value;
  const place = { segment: segment as number, byte: byte as number, length: length as number };
  if (header === undefined) return place;
  const why = (redactions ?? undefined) as { readonly [index: string]: Redaction } | undefined;
  return {
    ...place,
    edit: { header: header === true, nonce: nonce === true, gone: gone as readonly number[], redactions: why },
  };
}
