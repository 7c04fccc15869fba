import { readdirSync, readFileSync } from 'node:fs';
import { Pool } from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { RowReader } from '../core/backend.ts';
import type { Statement } from './driver/driver.ts';
import { pgDriverOver } from './driver/driver-pg.ts';
import { envelope, NAMESPACE, Recorder, TestSchema, turn } from './postgres.testkit.ts';
import { schemaNamed } from './schema/schema-name.ts';
import { addAdditions, loadSums, takeAdditions } from './sql/additions.ts';
import { addHeads, dropHeads } from './sql/add-heads.ts';
import { readPart } from './sql/blobs.ts';
import { lastCooled, loadBlocks, nextDirty } from './sql/blocks.ts';
import { checkKept } from './sql/check-kept.ts';
import { placeInFeed, readFeed } from './sql/feed.ts';
import { listHeads } from './sql/list-heads.ts';
import { loadHeads, loadLogs, loadNextTurns, loadPacks, loadRanges, loadRows, loadWords } from './sql/load.ts';
import { loadDone } from './sql/load-done.ts';
import { loadLines } from './sql/load-lines.ts';
import { loadPlaces } from './sql/load-places.ts';
import { loadSaid } from './sql/load-said.ts';
import { loadMade, lockMemories, lockRelatives } from './sql/relatives.ts';
import { lockHeads } from './sql/lock-heads.ts';
import { notePacks, packsOf, putPacks, rowsToPack } from './sql/pack.ts';
import { removePacked, removeRows } from './sql/remove-rows.ts';
import { findFolded, readToFold, readToScan } from './sql/search.ts';
import { loadSought } from './sql/sought.ts';
import { writeCommits } from './sql/write-commits.ts';

const CONVERSATIONS = 100_000;
const SCHEMA = '"$s"';

/** What goes to rows by their keys, whichever values come. */
function keyedStatements(): readonly Statement[] {
  const schema = { ...schemaNamed('s'), sql: SCHEMA };
  const of = { conversation: 'c', c: null, key: 'k', mayBePacked: true };
  const range = { conversation: 'c', c: null, from: 'a', to: 'b', limit: 1, packs: 1, isStill: true };
  const absent = { keys: [], ranges: [] };
  const kept = { id: 'c', c: '1', text: '{}', packs: '' };
  const stretch = { above: 0, below: 1, limit: 1, only: null };
  const page = { order: 'activity', limit: 1, after: undefined } as const;
  const shelf = { head: {} as Parameters<typeof addAdditions>[2]['head'], c: '1' }; // only its columns are asked for
  const taken = { erased: ['c'], redacted: [], forgotten: [] };
  const places = [{ c: '1', first: 1 }];
  return [
    ...[true, false].flatMap((wait) =>
      (['alone', 'writes', 'shares'] as const).map((lock) => lockHeads(schema, 'n', ['c'], wait, lock)),
    ),
    ...(['alone', 'shares'] as const).flatMap((lock) => [
      checkKept(schema, 'n', { heads: [kept], ...absent }, lock),
      checkKept(schema, 'n', { heads: [{ ...kept, packs: 'm' }], ...absent }, lock),
    ]),
    writeCommits(schema, 'n', { heads: [], added: [], put: [], logs: [], floor: 0 }),
    addHeads(schema, 'n', ['c'], ['1']),
    dropHeads(schema, 'n', ['c']),
    addAdditions(schema, 'n', shelf, []),
    loadSums(schema, 'n', 'c', []),
    takeAdditions(schema, 'n', 1),
    loadHeads(schema, 'n', ['c']),
    loadRows(schema, 'n', [of]),
    loadRows(schema, 'n', [{ ...of, mayBePacked: false }]),
    ...[true, false].flatMap((reverse) => [
      loadRanges(schema, 'n', [range], reverse),
      loadPacks(schema, 'n', [range], reverse),
    ]),
    ...[true, false].flatMap((mayBeCool) => [
      loadLogs(schema, 'n', [{ ...of, version: 1 }], mayBeCool),
      loadWords(schema, 'n', [range], mayBeCool),
      loadNextTurns(schema, 'n', [range], mayBeCool),
    ]),
    loadPlaces(schema, 'n', [of]),
    loadLines(schema, 'n', ['c']),
    loadDone(schema, 'n', [of]),
    ...[true, false].flatMap((wait) => [
      lockMemories(schema, 'n', taken, wait),
      lockRelatives(schema, 'n', ['c'], taken, wait),
    ]),
    loadMade(schema, 'n', taken),
    loadSaid(schema, 'n', [{ c: '1', key: 'k' }]),
    loadSought(schema, 'n', { conversationId: 'c', messageId: 'm' }),
    loadBlocks(schema, 'n', places),
    lastCooled(schema, 'n', 'c'),
    nextDirty(schema, 'n', { c: '1', first: 1 }),
    rowsToPack(schema, 'n', { c: '1', after: '', but: [], limit: 1 }),
    packsOf(schema, 'n', '1', ['k']),
    putPacks(schema, 'n', '1', []),
    notePacks(schema, 'n', 'c', 'm'),
    removeRows(schema, 'n', '1', ['k']),
    removePacked(schema, 'n', '1', ['k']),
    placeInFeed(schema, 'n', 1),
    readFeed(schema, 'n', 0, 1),
    readToFold(schema, 'n', 0, 1),
    readToScan(schema, 'n', stretch),
    readToScan(schema, 'n', { ...stretch, only: ['1'] }),
    findFolded(schema, 'n', '%a%', stretch),
    findFolded(schema, 'n', '%a%', { ...stretch, only: ['1'] }),
    listHeads(schema, 'n', page),
    listHeads(schema, 'n', { ...page, owner: 'me' }),
    readPart(schema, 'n', 'sha', 0),
  ];
}

/**
 * What has no plan; pages in the order of an index; what names one row, one conversation or one upload; what looks through a
 * namespace, seldom; what is planned anew each time (`planAnew`).
 */
const OTHERS = `begin begin_snapshot commit rollback enter enter_bounded assert_entered plan_anew keep_unmade
  remember_settings restore_settings trust
  list_created list_namespaces longer_than next_uncollected all_uncollected list_scratch
  put_scratch read_scratch delete_scratch begin_upload add_part touch_upload find_upload name_upload remove_parts remove_blob
  begin_feed lock_feed feed_waits read_ends lock_ends set_indexed add_folded
  add_block empty_logs dirty_block edited_logs put_block
  check_ check_heads rebuild_recency drop_folded give_up_blobs expire_uploads given_up_blob
  mark_blocks edit_logs refold`.split(/\s+/);

/** Of an index, the column that its whole key ends with, and where a range of it is what is asked for: the one before. */
const LAST: Readonly<Record<string, string>> = {
  heads_pkey: 'id',
  heads_ns_c_key: 'c',
  rows_pkey: 'k',
  packed_pkey: 'first',
  log_pkey: 'version',
  blocks_pkey: 'c',
  blocks_dirty: 'ns',
  blobs_pkey: 'name',
  parts_pkey: 'i',
  additions_pkey: 'k',
  outbox_pkey: 'rank',
  feed_pkey: 'position',
  folded_pkey: 'position',
  folded_unreadable: 'position',
  recency_activity: 'activity',
  recency_owner_activity: 'activity',
};
/** The first places in a queue. */
const FROM_THE_START = /^tk_(place_feed|take_additions)/;

let schema: TestSchema;

beforeEach(async () => {
  schema = await TestSchema.create();
});

afterEach(async () => schema.end());

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

/** Plans that a session keeps of statements, with the settings that a transaction of ours has. */
async function keptPlans(statements: readonly Statement[]): Promise<readonly (readonly [string, PlanNode])[]> {
  const client = await schema.client();
  for (const setting of ['enable_seqscan = off', 'enable_hashjoin = off', 'enable_mergejoin = off'])
    await client.query(`SET ${setting}`);
  await client.query('SET plan_cache_mode = force_generic_plan');
  const plans: (readonly [string, PlanNode])[] = [];
  for (const { name, text, values } of statements) {
    await client.query(`PREPARE kept AS ${text.replaceAll(SCHEMA, `"${schema.name}"`)}`);
    const explain = `EXPLAIN (FORMAT JSON) EXECUTE kept (${values.map(() => 'NULL').join(', ')})`;
    const { rows } = await client.query<{ 'QUERY PLAN': readonly [{ Plan: PlanNode }] }>(explain);
    for (const row of rows) plans.push([name, row['QUERY PLAN'][0].Plan]);
    await client.query('DEALLOCATE kept');
  }
  return plans;
}

function nodesOf(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** What a plan looks through, but for what it looks up by whole keys. */
function looksThrough([name, plan]: readonly [string, PlanNode]): readonly string[] {
  return nodesOf(plan).flatMap((node) => {
    const { 'Node Type': type, 'Index Name': index, 'Index Cond': condition = '', 'Relation Name': table } = node;
    if (type === 'Seq Scan') return [`${name}: all of ${table}`];
    if (index === undefined) return [];
    const last = LAST[index];
    const isByKey =
      last !== undefined && new RegExp(`\\b${last}"?\\)*(::\\w+)? (=|<=?|>=?) |ROW\\(${last},`).test(condition);
    return isByKey || FROM_THE_START.test(name) ? [] : [`${name}: ${index} where ${condition}`];
  });
}

it('a plan goes by whole keys whenever it is made: on nothing, on a few conversations, on many of which nobody took statistics', async () => {
  await (await schema.open({ watch: 'poll' })).close();
  const client = await schema.client();
  const tables = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = '${schema.name}'::regnamespace AND relkind = 'r'`,
  );
  for (const { name } of tables.rows)
    await client.query(`ALTER TABLE "${schema.name}".${name} SET (autovacuum_enabled = false)`);
  const statements = keyedStatements();
  for (const conversations of [0, 1, CONVERSATIONS]) {
    await schema.rowsOf(`INSERT INTO $s.heads (ns, id, c, version, rank, created, uncollected, places, head)
      SELECT 'team', 'c' || i, i, 1, i, i, false, '[]', repeat('x', 400) FROM generate_series(2, ${conversations}) i
      UNION ALL SELECT 'team', 'c', 1, 1, 1, 1, false, '[]', '{}' WHERE ${conversations} = 1`);
    const found = (await keptPlans(statements)).flatMap(looksThrough);
    expect([conversations, ...found]).toEqual([conversations]);
  }
});

it('every statement that has a plan is read here, or is one of those that need not go by keys', () => {
  const folder = new URL('sql/', import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith('.js'));
  const names = files.flatMap((file) => readFileSync(new URL(file, folder), 'utf8').match(/tk_[a-z_]+/g) ?? []);
  const read = keyedStatements().map(({ name }) => name);
  const others = OTHERS.map((name) => `tk_${name}`);
  const unread = names.filter((name) => !others.includes(name) && !read.some((one) => one.startsWith(name)));
  expect(unread).toEqual([]);
});

it('what is sent for commits, readings, packs and erasures has a plan that goes by whole keys', async () => {
  const recorder = new Recorder(await schema.driver());
  const backend = await schema.open({ watch: 'poll' }, recorder);
  const rows = (reading: (rows: RowReader) => unknown) => backend.read(NAMESPACE, reading);
  for (let at = 0; at < 6; at++) await backend.commit(turn('c', `number ${at}`));
  await backend.cool(NAMESPACE, { hotMessages: 2 });
  for (let at = 0; at < 12; at++) await backend.commit(turn('c', `more ${at}`));
  await rows((found) => found.scan('c', { from: 'm', to: 'n', reverse: true, limit: 3 }));
  await rows((found) => found.scan('c', { from: 'm', to: 'n' }));
  await rows((found) => [found.head('c'), found.get('c', 'Mnobody')]);
  await backend.read(NAMESPACE, (found) => found.head('c'), { conversationId: 'c', messageId: 'm' });
  await backend.commit(envelope('c', [{ kind: 'conversation.erase' }]));
  await backend.collect(NAMESPACE);
  const keyed = new Set(keyedStatements().map(({ name }) => name));
  const sent = new Map(recorder.flushes.flat().map((statement) => [statement.name, statement]));
  const plans = await keptPlans([...sent.values()].filter(({ name }) => keyed.has(name)));
  expect(plans.length).toBeGreaterThan(12);
  expect(plans.flatMap(looksThrough)).toEqual([]);
});

it('a statement is planned once for each connection, whatever it is asked', async () => {
  const pool = new Pool({ connectionString: schema.url, max: 1 });
  const backend = await schema.open({ watch: 'poll', search: 'scan' }, pgDriverOver(pool));
  for (let at = 0; at < 12; at++) {
    await backend.commit(turn(`c${at}`, 'first'));
    await backend.commit(turn(`c${at}`, 'second'));
    await backend.read(NAMESPACE, (rows) => rows.head(`c${at}`));
  }
  const { rows } = await pool.query<{ name: string; anew: number }>(
    `SELECT name, custom_plans::integer AS anew FROM pg_prepared_statements WHERE name LIKE 'tk%' AND generic_plans + custom_plans > 0`,
  );
  await backend.close();
  await pool.end();
  expect(rows.length).toBeGreaterThan(5);
  // What is sent before a transaction is entered, or when a store is opened, is not meant.
  const isMeant = (name: string) => !/^tk_(?:enter|lock_migration|look)_/.test(name);
  expect(rows.filter(({ name, anew }) => anew > 0 && isMeant(name)).map(({ name }) => name)).toEqual([]);
});
