import { afterEach, beforeEach, expect, it } from 'vitest';
import type { RowReader } from '../core/backend.ts';
import type { Statement } from './driver.ts';
import { envelope, NAMESPACE, Recorder, TestSchema, turn } from './postgres.testkit.ts';

let schema: TestSchema;
let recorder: Recorder;

beforeEach(async () => {
  schema = await TestSchema.create();
  recorder = new Recorder(await schema.driver());
});

afterEach(async () => schema.end());

/** The plan that a session keeps of a statement, with the settings that a transaction of ours has. */
async function keptPlan({ text, values }: Statement): Promise<string> {
  const client = await schema.client();
  for (const setting of ['enable_seqscan = off', 'enable_hashjoin = off', 'enable_mergejoin = off'])
    await client.query(`SET ${setting}`);
  await client.query('SET plan_cache_mode = force_generic_plan');
  await client.query(`PREPARE kept AS ${text}`);
  const { rows } = await client.query(`EXPLAIN EXECUTE kept (${values.map(() => 'NULL').join(', ')})`);
  return rows.map((row) => (row as { readonly 'QUERY PLAN': string })['QUERY PLAN']).join('\n');
}

it('a commit and a look-up by id go to the heads that they name, by plans from when the store had next to none, too', async () => {
  const backend = await schema.open({ watch: 'poll' }, recorder);
  await backend.commit(turn('c', 'first'));
  await backend.commit(turn('c', 'second'));
  await backend.read(NAMESPACE, (rows) => rows.head('c'), { conversationId: 'c', messageId: 'm' });
  const sent = new Map(recorder.flushes.flat().map((statement) => [statement.name, statement]));
  for (const name of ['tk_lock_heads', 'tk_check_kept', 'tk_write_commits', 'tk_load_sought']) {
    const statement = sent.get(name);
    if (!statement) throw new Error(`${name} was not sent`);
    const plan = await keptPlan(statement);
    expect(plan).not.toMatch(/Seq Scan on heads/);
    for (const condition of plan.match(/Index Scan .*\bheads_.*\n\s+Index Cond: .*/g) ?? [])
      expect(condition).toMatch(/\bid = /);
  }
});

it('what looks up rows and packs goes by their whole keys', async () => {
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
  const sent = new Map(recorder.flushes.flat().map((statement) => [statement.name, statement]));
  const names = [
    'load_rows_packed',
    'load_ranges_up',
    'load_ranges_down',
    'load_packs_up',
    'load_packs_down',
    'load_sought',
  ];
  const keyed = [...names, 'check_kept_packed', 'packs_of', 'put_packs', 'remove_rows', 'remove_packed'];
  const plans = await Promise.all(
    keyed.map(async (name) => {
      const statement = sent.get(`tk_${name}`);
      if (!statement) throw new Error(`${name} was not sent`);
      return `${name}\n${await keptPlan(statement)}`;
    }),
  );
  for (const plan of plans) {
    expect(plan).not.toMatch(/Seq Scan on (rows|packed)/);
    const conditions = plan.match(/Index (Only )?Scan .*\b(rows|packed)_pkey.*\n\s+Index Cond: .*/g) ?? [];
    const byWholeKey = conditions.filter((condition) => /rows_pkey[^]*\bk | packed_pkey[^]*\bfirst /.test(condition));
    expect([plan, byWholeKey]).toEqual([plan, conditions]);
  }
  const looked = plans.join('\n').match(/_pkey on (rows|packed)\b/g) ?? [];
  expect(looked.length).toBeGreaterThanOrEqual(keyed.length);
});
