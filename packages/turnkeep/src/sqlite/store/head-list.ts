import type { HeadQuery } from '../../core/backend.ts';
import type { Head } from '../../core/head.ts';
import type { ConversationId } from '../../core/ids.ts';
import type { Database, SqlRow, Statement } from '../driver/driver.ts';
import { parseHead } from './head-text.ts';

interface ListStatements {
  readonly first: Statement;
  /** Heads of the same time with a greater id. */
  readonly ties: Statement;
  readonly older: Statement;
}

/** Statements by `order` and by whether an owner is asked for. Each is a range of one index, nothing is sorted. */
export type HeadStatements = { readonly [Shape in `${HeadQuery['order']}${'' | ' owned'}`]: ListStatements };

export function headStatements(database: Database): HeadStatements {
  const list = (order: HeadQuery['order'], owned: string): ListStatements => {
    const select = (more: string) =>
      database.prepare(`SELECT head, id FROM heads WHERE n = ? ${owned} ${more} ORDER BY ${order} DESC, id LIMIT ?`);
    return { first: select(''), ties: select(`AND ${order} = ? AND id > ?`), older: select(`AND ${order} < ?`) };
  };
  return {
    activity: list('activity', ''),
    created: list('created', ''),
    'activity owned': list('activity', 'AND owner = ?'),
    'created owned': list('created', 'AND owner = ?'),
  };
}

export function listHeads(statements: HeadStatements, n: number, query: HeadQuery): readonly Head[] {
  const { order, owner, after, limit } = query;
  const list = statements[owner === undefined ? order : (`${order} owned` as const)];
  const scope = owner === undefined ? [n] : [n, owner];
  // A limit of SQL is a 64-bit integer, and a negative one is none.
  const bounded = Math.min(limit, Number.MAX_SAFE_INTEGER);
  if (!after) return list.first.all(...scope, bounded).map(toHead);
  const ties = list.ties.all(...scope, after.at, after.conversationId, bounded);
  const older = ties.length < bounded ? list.older.all(...scope, after.at, bounded - ties.length) : [];
  return [...ties, ...older].map(toHead);
}

function toHead(row: SqlRow): Head {
  return parseHead(row[0] as string, row[1] as ConversationId); // text columns
}
