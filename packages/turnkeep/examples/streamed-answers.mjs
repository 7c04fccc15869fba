// A chat server: an answer is streamed while it is made (server-sent events), to any number of readers. One whose line breaks
// goes on from the last event that it saw; one that comes too late reads the message.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { modelAgent, openLedger } from 'turnkeep';

const WORDS = ['Your ', 'parcel ', 'is ', 'in ', 'Oslo, ', 'and ', 'comes ', 'tomorrow.'];

/** In the place of a provider: a word every tenth of a second. */
async function* model() {
  for (const text of WORDS) {
    await pause(100);
    yield { type: 'text', text };
  }
}

const agent = modelAgent({ model });
const ledger = await openLedger('memory:');
const chat = ledger.namespace('acme').conversation('support-42');

/** Takes a question and answers at once: the turn goes on behind. Sent again under its key, it is the same turn. */
async function ask(request, response) {
  let body = '';
  for await (const piece of request) body += piece;
  const { key, words } = JSON.parse(body);
  const { turnId } = await chat.submit({ prompt: [{ type: 'text', text: words }] }, { idempotencyKey: key });
  chat.resume(turnId, agent).catch((error) => console.error(error.message)); // `turn_held` where it is at work by now
  response.end(JSON.stringify({ turnId }));
}

/**
 * Follows the answer that is being made, then hands out the message that holds all of it. A browser's EventSource sends the
 * last cursor by itself when it comes again.
 */
async function follow(request, response) {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (event, id) => response.write(`${id ? `id: ${id}\n` : ''}data: ${JSON.stringify(event)}\n\n`);
  const events = await chat.reconnect({ after: request.headers['last-event-id'], signal: gone.signal });
  for await (const { kind, cursor, parts } of events ?? [])
    if (kind === 'delta') send({ piece: textOf(parts) }, cursor);
  const { messages } = await chat.window(1);
  send({ whole: textOf(messages[0].parts) });
  response.end();
}

const textOf = (parts) => parts.map((part) => part.text ?? '').join('');

const server = createServer((request, response) => {
  const answer = request.method === 'POST' ? ask : follow;
  answer(request, response).catch((error) => response.destroy(error));
});
await once(server.listen(0, '127.0.0.1'), 'listening');
const url = `http://127.0.0.1:${server.address().port}/`;

/** What a client sees from a cursor on: pieces, and the whole where its line does not break after so many. */
async function seen({ last, enough = Infinity } = {}) {
  const line = new AbortController();
  const headers = last === undefined ? {} : { 'last-event-id': last };
  const { body } = await fetch(url, { headers, signal: line.signal });
  const view = { pieces: [], last, whole: undefined };
  let received = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const blocks = (received + chunk).split('\n\n');
    received = blocks.pop();
    for (const block of blocks) {
      view.last = /^id: (.*)$/m.exec(block)?.[1] ?? view.last;
      const { piece, whole } = JSON.parse(/^data: (.*)$/m.exec(block)[1]);
      if (piece !== undefined) view.pieces.push(piece);
      view.whole = whole;
    }
    if (view.pieces.length >= enough) break;
  }
  line.abort();
  return view;
}

async function seenInTwo() {
  const begun = await seen({ enough: 1 });
  const rest = await seen({ last: begun.last });
  return { ...rest, pieces: [...begun.pieces, '|', ...rest.pieces] };
}

await fetch(url, { method: 'POST', body: JSON.stringify({ key: 'req-1', words: 'Where is my parcel?' }) });
const [one, other] = await Promise.all([seen(), seenInTwo()]);
console.log(`${one.pieces.join('')}\n${other.pieces.join('')}\n${one.whole}`);

const said = WORDS.join('');
assert.equal(one.whole, said);
assert.equal(other.whole, said);
for (const { pieces } of [one, other]) assert.ok(said.startsWith(pieces.join('').replace('|', '')));
server.close();
await ledger.close();
