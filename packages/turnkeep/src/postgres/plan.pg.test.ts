import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Statement } from './driver.ts';
import { NAMESPACE, Recorder, TestSchema, turn } from './postgres.testkit.ts';

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
