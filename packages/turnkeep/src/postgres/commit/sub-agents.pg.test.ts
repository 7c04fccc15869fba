import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PostgresBackend } from '../postgres-backend.ts';
import { envelope, Recorder, TestSchema, turn, versionOf } from '../postgres.testkit.ts';

let schema: TestSchema;
let recorder: Recorder;
/** Two processes of one store. */
let ours: PostgresBackend;
let theirs: PostgresBackend;

beforeEach(async () => {
  schema = await TestSchema.create();
  recorder = new Recorder(await schema.driver());
  ours = await schema.open({ watch: 'poll' }, recorder);
  theirs = await schema.open({ watch: 'poll' });
  await ours.commit(
    envelope('parent', [
      { kind: 'turn.submit', turnId: 't', operationId: 'o', promptId: 'p', prompt: [{ type: 'text', text: 'ask' }] },
      { kind: 'turn.advance', turnId: 't', to: 'running' },
    ]),
  );
  await ours.commit(spawn('child', 'parent', 't'));
});

afterEach(async () => schema.end());

const advance = (to: string) => envelope('parent', [{ kind: 'turn.advance', turnId: 't', to }]);
const says = (turnId: string) => {
  const message = { role: 'assistant', parts: [{ type: 'text', text: 'words' }] };
  return envelope('parent', [{ kind: 'message.append', turnId, message }]);
};
const spawn = (id: string, conversationId: string, turnId: string) =>
  envelope(id, [{ kind: 'conversation.spawn', parent: { conversationId, turnId } }]);

describe("a sub-agent's commit", () => {
  it('is refused once another process has cancelled the turn above, whatever this one keeps of both', async () => {
    for (let at = 0; at < 3; at++) {
      await ours.commit(says('t'));
      await ours.commit(turn('child', `turn ${at}`));
    }
    await theirs.commit(advance('cancelled'));
    await expect(ours.commit(turn('child', 'late'))).rejects.toMatchObject({ code: 'parent_ended' });
    expect(await versionOf(ours, 'child')).toBe(4);
  });

  it('waits for no other sub-agent of the same turn', async () => {
    await ours.commit(spawn('sibling', 'parent', 't'));
    const client = await schema.client();
    await client.query('BEGIN');
    await theirs.commitWithin(client, turn('sibling', 'stays open'));
    await ours.commit(turn('child', 'one'));
    await ours.commit(turn('child', 'two'));
    expect(await versionOf(ours, 'child')).toBe(3);
    await client.query('COMMIT');
    expect(await versionOf(ours, 'sibling')).toBe(2);
  });

  it('and one that cancels the turn above do not pass each other', async () => {
    const client = await schema.client();
    await client.query('BEGIN');
    await theirs.commitWithin(client, turn('child', 'stays open'));
    const order: string[] = [];
    const cancelled = ours.commit(advance('cancelled')).then(() => order.push('cancelled'));
    await expect(ours.commit(turn('other', 'free'))).resolves.toMatchObject({ version: 1 });
    order.push('committed');
    await client.query('COMMIT');
    await cancelled;
    expect(order).toEqual(['committed', 'cancelled']);
    await expect(ours.commit(turn('child', 'late'))).rejects.toMatchObject({ code: 'parent_ended' });
  });

  it('takes three round trips, in a process that knows neither, too, and one where both are kept', async () => {
    expect(await recorder.trips(() => ours.commit(turn('child', 'one')))).toBe(3);
    expect(await recorder.trips(() => ours.commit(turn('child', 'two')))).toBe(1);
    const fresh = await schema.open({ watch: 'poll' }, recorder);
    expect(await recorder.trips(() => fresh.commit(turn('child', 'three')))).toBeLessThanOrEqual(3);
    expect(await recorder.trips(() => fresh.commit(turn('child', 'four')))).toBe(1);
  });
});
