import { TurnkeepError } from '../core/errors.ts';

/** A cursor as callers hold it: opaque text. It says where a reading goes on, and nothing that a caller should read. */
export function encodeCursor(cursor: object): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

/** The cursor that a caller hands back; `bad_cursor` where it is not one of ours of that kind. */
export function decodeCursor<Cursor extends object>(text: string, fields: readonly (keyof Cursor & string)[]): Cursor {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (typeof value === 'object' && value !== null && fields.every((field) => Object.hasOwn(value, field))) {
      return value as Cursor;
    }
  } catch {
    // Not JSON: not ours.
  }
  throw new TurnkeepError('bad_cursor', { reason: 'it is not a cursor of this reading' });
}
