import { openDatabase } from './driver/open-database.ts';

// A process that dies in the middle of a commit without a WAL: `node dying-child.testkit.js PATH`. What it changed stands
// in the file already, and what was there before in the journal beside it.

const [path = ''] = process.argv.slice(2);
const database = openDatabase(path);
database.exec('PRAGMA journal_mode = TRUNCATE; PRAGMA cache_size = 2; BEGIN IMMEDIATE; CREATE TABLE more (bytes BLOB)');
for (let at = 0; at < 100; at++) database.exec('INSERT INTO more VALUES (randomblob(4000))');
database.exec('UPDATE heads SET version = version + 1');
process.kill(process.pid, 'SIGKILL');
