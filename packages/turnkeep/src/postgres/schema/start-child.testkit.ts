import { once } from 'node:events';
import { openPostgres } from '../open.ts';
import { turn } from '../postgres.testkit.ts';

// A process that opens a store and commits to it, once it is told to: `node start-child.testkit.js URL SCHEMA NUMBER`. All of them
// commit to one conversation, and each to one of its own; it says at which version it came.

const [url = '', schema = '', number = ''] = process.argv.slice(2);

process.stdout.write('ready\n');
await once(process.stdin, 'data');
const store = await openPostgres(url, { schema });
await store.commit(turn(`own${number}`, 'mine'));
const { version } = await store.commit(turn('shared', `number ${number}`));
const found = await store.search('team', { text: 'number', limit: 20 });
await store.close();
process.stdout.write(`${version} of ${found.places.length > 0 ? 'some' : 'none'}\n`);
process.exit(0);
