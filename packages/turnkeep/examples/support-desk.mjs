// An inbox over many customers: owners, labels, what each reader has not read, search; then the job of the night: check the
// store, write what is kept elsewhere, erase what is closed, make room.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isTurnkeepError, openLedger } from 'turnkeep';

const says = (role, text) => ({ role, parts: [{ type: 'text', text }] });

/** A customer wrote: a message that comes twice is stored once. */
async function receive(desk, { customer, mailId, text }) {
  const chat = desk.conversation(`customer-${customer}`);
  if (!(await chat.exists())) {
    const fields = { title: `Customer ${customer}`, owner: customer % 2 ? 'ann' : 'ben', labels: ['new'] };
    await chat.create(fields, { idempotencyKey: `customer-${customer}` });
  }
  await chat.record({ origin: 'mail', messages: [says('user', text)] }, { idempotencyKey: mailId });
}

/** Where a clerk has not read everything, the newest first. */
async function unreadOf(desk, clerk) {
  const inbox = [];
  for await (const info of desk.conversations({ owner: clerk, reader: clerk })) if (info.unread > 0) inbox.push(info);
  return inbox;
}

/**
 * A clerk answers and closes: the answer, how far it was read, and the list's fields are one commit. If the customer has written
 * since the clerk looked, it is a `conflict`, and nothing is closed.
 */
async function answer(desk, clerk, { conversationId, version, lastSequence }) {
  await desk.conversation(conversationId).commit(
    [
      { kind: 'turn.record', origin: 'desk' },
      {
        kind: 'message.append',
        message: { ...says('assistant', 'It is on its way.'), author: { id: clerk, kind: 'human' } },
      },
      {
        kind: 'conversation.update',
        archived: true,
        labels: [],
        readThrough: { reader: clerk, sequence: lastSequence + 1 },
      },
    ],
    { idempotencyKey: `answer to ${conversationId} ${lastSequence}`, expect: { version } },
  );
}

/** Every message of a tenant, a line each. Reading goes page by page, so that a long conversation is never in memory. */
async function write(desk, path) {
  const out = createWriteStream(path);
  for await (const { conversationId } of desk.conversations({ includeSubAgents: true }))
    for await (const message of desk.conversation(conversationId).read())
      if (!out.write(`${JSON.stringify(message)}\n`)) await once(out, 'drain');
  await new Promise((resolve) => out.end(resolve));
}

async function night(ledger, folder) {
  const { faults } = await ledger.verify();
  if (faults.length > 0) throw new Error(`the store is damaged: ${JSON.stringify(faults)}`);
  for (const tenant of await ledger.namespaces()) {
    const desk = ledger.namespace(tenant);
    await write(desk, join(folder, `${tenant}.jsonl`));
    for await (const { conversationId } of desk.conversations({ archived: true }))
      await desk.conversation(conversationId).erase({ reason: 'retention' });
  }
  return ledger.maintain(); // what was erased leaves the files now
}

const folder = await mkdtemp(join(tmpdir(), 'turnkeep-example-'));
try {
  const ledger = await openLedger(`sqlite:${join(folder, 'desk.db')}`);
  const desk = ledger.namespace('acme');
  for (let customer = 0; customer < 10; customer++)
    for (const at of [1, 2]) {
      const mail = {
        customer,
        mailId: `mail-${customer}-${at}`,
        text: `Where is parcel ${customer}${customer}? (${at})`,
      };
      await receive(desk, mail);
      await receive(desk, mail); // delivered again
    }

  const inbox = await unreadOf(desk, 'ann');
  console.log(inbox.map(({ title, unread }) => `${title}: ${unread} unread`).join('\n'));
  assert.deepEqual(
    inbox.map(({ unread }) => unread),
    [2, 2, 2, 2, 2],
  );

  const { hits } = await desk.search('parcel 77');
  console.log(hits.map(({ conversationId, snippet }) => `${conversationId}: ${snippet}`).join('\n'));
  const found = inbox.find(({ conversationId }) => conversationId === hits[0].conversationId);
  await answer(desk, 'ann', found);
  await answer(desk, 'ann', found); // the button was pressed twice

  const [changed] = inbox;
  await receive(desk, { customer: 9, mailId: 'mail-9-3', text: 'Never mind.' });
  await assert.rejects(answer(desk, 'ann', changed), (error) => isTurnkeepError(error, 'conflict'));
  assert.equal((await unreadOf(desk, 'ann')).length, 4);
  assert.equal((await desk.conversation('customer-7').window(8)).messages.length, 3);

  const { rowsRemoved } = await night(ledger, folder);
  console.log(`${rowsRemoved} rows removed`);
  assert.ok(rowsRemoved > 0);
  assert.equal((await readFile(join(folder, 'acme.jsonl'), 'utf8')).trim().split('\n').length, 22);
  assert.deepEqual((await desk.search('parcel 77')).hits, []);
  assert.deepEqual((await ledger.verify()).faults, []);
  await ledger.close();
} finally {
  await rm(folder, { recursive: true, force: true });
}
