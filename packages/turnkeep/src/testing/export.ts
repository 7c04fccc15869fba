import { compareKeys } from '../core/backend.ts';
import type { Backend, RowReader } from '../core/backend.ts';
import { canonical } from '../core/encoding.ts';
import type { ConversationId, NamespaceId } from '../core/ids.ts';
import type { Json } from '../core/json.ts';

const PAGE = 500;
// Above every key: the last code point.
const END = '\u{10ffff}';

/** One line of an export. Lines are JSON with sorted keys; bodies and headers stand in them as the text they are. */
type Line = readonly [table: 'namespace' | 'conversation' | 'head' | 'row' | 'log', ...Json[]];

/**
 * All that a store holds, as lines of text in one order: namespaces and conversations in UTF-8 order; of each
 * conversation its head, its rows in key order, its log by version. It asks the seam alone, one snapshot for each
 * conversation: two stores hold the same exactly if their exports are the same.
 */
export async function* exportStore(backend: Backend, only?: NamespaceId): AsyncGenerator<string> {
  const namespaces = only === undefined ? await backend.namespaces() : [only];
  for (const namespace of namespaces) {
    yield lineOf(['namespace', namespace]);
    for (const conversation of await backend.read(namespace, conversationsIn)) {
      yield* await backend.read(namespace, (rows) => linesOf(rows, conversation));
    }
  }
}

/** An export as one text. */
export async function exportText(backend: Backend, only?: NamespaceId): Promise<string> {
  const lines: string[] = [];
  for await (const line of exportStore(backend, only)) lines.push(line);
  return lines.join('\n');
}

/** Every conversation, erased ones included, in UTF-8 order. */
export function conversationsIn(rows: RowReader): readonly ConversationId[] {
  const found: ConversationId[] = [];
  for (let after: { at: number; conversationId: ConversationId } | undefined; ;) {
    const heads = rows.heads({ order: 'created', limit: PAGE, after });
    for (const head of heads) {
      found.push(head.conversationId);
      after = { at: head.createdAt, conversationId: head.conversationId };
    }
    if (heads.length < PAGE) return found.sort(compareKeys);
  }
}

function linesOf(rows: RowReader, conversation: ConversationId): readonly string[] {
  const head = rows.head(conversation);
  const lines = [lineOf(['conversation', conversation]), lineOf(['head', (head ?? null) as Json])];
  for (let from = ''; ;) {
    const page = rows.scan(conversation, { from, to: END, limit: PAGE });
    for (const { key, value } of page) {
      lines.push(lineOf(['row', key, value]));
      from = `${key}\0`;
    }
    if (page.length < PAGE) break;
  }
  for (let version = 1; version <= (head?.version ?? 0); version++) {
    lines.push(lineOf(['log', (rows.log(conversation, version) ?? null) as Json]));
  }
  return lines;
}

function lineOf(line: Line): string {
  return canonical(line);
}
