import { z } from 'zod';
import { TurnkeepError } from '../core/errors.ts';
import type { PageCursor } from '../core/read/pages.ts';
import type { WindowCursor } from '../core/read/window.ts';
import { count, id } from '../core/shapes.ts';

/** A cursor as callers hold it: opaque text that says where a reading continues. */
export function encodeCursor(cursor: object): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

/** The cursor that a caller passes back; `bad_cursor` if it is not one of ours of that kind. */
export function decodeCursor<Cursor extends object>(text: string, shape: z.ZodType<Cursor>): Cursor {
  const result = shape.safeParse(jsonOf(text));
  if (result.success) return result.data;
  throw new TurnkeepError('bad_cursor', { reason: 'it is not a cursor of this reading' });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    // No text, or not JSON: not ours, and no shape has it.
    return undefined;
  }
}

export const windowCursor: z.ZodType<WindowCursor> = z.strictObject({
  leaf: id.nullable(),
  lastSequence: count,
  messageId: id,
});

export const pageCursor: z.ZodType<PageCursor> = z.strictObject({
  leaf: id.nullable(),
  lastSequence: count,
  atVersion: count.nullable(),
  owner: id,
  branch: count,
  position: count,
  sequence: count,
});
