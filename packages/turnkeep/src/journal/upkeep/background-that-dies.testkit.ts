import { parentPort } from 'node:worker_threads';

// A background thread that ends in the middle of its work.
parentPort?.once('message', () => process.exit(3));
