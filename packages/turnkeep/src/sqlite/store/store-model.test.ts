import { expect, test } from 'vitest';
import type { Backend, Envelope, RowReader } from '../../core/backend.ts';
import { isTurnkeepError } from '../../core/errors.ts';
import type { ConversationId } from '../../core/ids.ts';
import { MemoryBackend } from '../../memory/memory-backend.ts';
import { sha256 } from '../../platform/hash.ts';
import { openSqlite } from '../open.ts';
import { envelope, message, NAMESPACE, withStoreFile } from '../sqlite-backend.testkit.ts';

// The memory backend is the reference: after the same commits every row, log record, head and list is the same here, on
// the handle that wrote, on another one, and after a reopen.

const TALKS = ['talk', 'talk \u{1f600}', 'talk \uff5e', 'fork'];

function dump(backend: Backend) {
  return backend.read(NAMESPACE, (rows) => ({
    lists: (['activity', 'created'] as const).map((order) => rows.heads({ order, limit: 10 })),
    owned: rows.heads({ order: 'activity', owner: 'ann', limit: 10 }),
    talks: TALKS.map((id) => {
      const head = rows.head(id);
      const versions = Array.from({ length: head?.version ?? 0 }, (_, at) => at + 1);
      return {
        head,
        rows: rows.scan(id, { from: '', to: '\u{10ffff}' }),
        log: versions.map((version) => rows.log(id, version)),
      };
    }),
  }));
}

/** What stands at the ends of a few tables: what a commit asks for. */
function lastRows(rows: RowReader) {
  const lastOf = (id: ConversationId, from: string) =>
    rows.scan(id, { from, to: `${from}\u{10ffff}`, reverse: true, limit: 3 });
  return TALKS.map((id) => ['t', 'm', 'e10tasks', 'k', 'c'].map((table) => lastOf(id, table)));
}

/** Enough commits of each kind that tails are folded, and rows of others come in between. */
function* commits(): Generator<Envelope> {
  for (let n = 0; n < 150; n++) {
    const talk = TALKS[n % 3] as ConversationId;
    const prompt = { role: 'user', parts: [{ type: 'text', text: `word ${n} ${'long '.repeat((n * 37) % 300)}` }] };
    yield envelope(talk, [
      ...(n < 3 ? [{ kind: 'checkpoint.create', checkpointId: 'agent', type: 'test', payload: {} }] : []),
      { kind: 'turn.record', origin: 'test', turnId: `turn ${n}` },
      { kind: 'message.append', message: { ...prompt, messageId: `message ${n}` } },
      { kind: 'task.create', taskId: `task ${n}`, title: 'a task' },
      { kind: 'task.transition', taskId: `task ${n}`, to: 'running' },
      { kind: 'task.transition', taskId: `task ${n}`, to: 'completed' },
      {
        kind: 'checkpoint.advance',
        checkpointId: 'agent',
        from: Math.floor(n / 3),
        payload: { state: { json: { n, text: 'x'.repeat(n * 5) } } },
      },
    ]);
    if (n % 10 === 4)
      yield envelope(talk, [{ kind: 'conversation.update', owner: n % 20 === 4 ? 'ann' : 'ben', title: `title ${n}` }]);
    if (n % 50 === 21)
      yield envelope(talk, [{ kind: 'message.redact', messageId: `message ${n - 3}`, reason: 'asked' }]);
    if (n === 90) yield envelope('fork', [{ kind: 'conversation.fork', source: 'talk', at: 'message 30' }]);
    if (n === 100)
      yield envelope('fork', [
        { kind: 'turn.record', origin: 'test', turnId: 'own' },
        { kind: 'message.append', message: prompt },
      ]);
  }
  yield envelope('talk', [{ kind: 'conversation.erase', reason: 'asked' }]);
}

/** Commits to both, and answers what they answered where that differs. */
async function differenceOf(left: Backend, right: Backend, each: Envelope): Promise<unknown> {
  const answers = await Promise.all(
    [left, right].map((backend) => backend.commit(each).catch((error: unknown) => codeOf(error))),
  );
  const [expected, found] = answers.map((answer) => JSON.stringify(answer));
  return expected === found ? undefined : { expected, found };
}

function codeOf(error: unknown): unknown {
  return isTurnkeepError(error) ? error.toData() : String(error);
}

test('holds what the reference holds', () =>
  withStoreFile(async (path) => {
    const memory = new MemoryBackend(sha256);
    const store = await openSqlite(path);
    const other = await openSqlite(path);
    for (const [at, each] of [...commits()].entries()) {
      expect(await differenceOf(memory, at % 7 === 3 ? other : store, each)).toBeUndefined();
      expect(await store.read(NAMESPACE, lastRows)).toEqual(await memory.read(NAMESPACE, lastRows));
    }
    const expected = await dump(memory);
    for (const handle of [store, other]) expect(await dump(handle)).toEqual(expected);
    const removed = await memory.collect(NAMESPACE);
    expect(await store.collect(NAMESPACE)).toBe(removed);
    const collected = await dump(memory);
    for (const handle of [store, other]) expect(await dump(handle)).toEqual(collected);
    await store.close();
    await other.close();
    const again = await openSqlite(path);
    expect(await dump(again)).toEqual(collected);
    expect(await again.verify()).toEqual([]);
    await again.close();
  }));

test('pages of heads have no gap and no repeat, whatever their times', () =>
  withStoreFile(async (path) => {
    const memory = new MemoryBackend(sha256);
    const store = await openSqlite(path);
    const ids = ['\uff5e', '\u{1f600}', 'a', 'b', 'c', 'd', 'e', 'f', 'g'];
    for (const [at, id] of ids.entries())
      expect(await differenceOf(memory, store, { ...message(id, 'word'), now: 1_000 + (at % 3) })).toBeUndefined();
    for (const order of ['activity', 'created'] as const) {
      for (const limit of [1, 2, 4, 9]) {
        const pagesOf = (backend: Backend) =>
          backend.read(NAMESPACE, (rows) => {
            const found: string[] = [];
            for (let page = rows.heads({ order, limit }); page.length > 0;) {
              found.push(...page.map(({ conversationId }) => conversationId));
              const last = page.at(-1);
              if (!last) break;
              page = rows.heads({ order, limit, after: { at: last.createdAt, conversationId: last.conversationId } });
            }
            return found;
          });
        expect(await pagesOf(store)).toEqual(await pagesOf(memory));
      }
    }
    await store.close();
  }));
