import type { WorkerOptions } from 'node:worker_threads';

/**
 * What a thread of ours is started with beside its data. Node.js passes on those options of the process that a thread may
 * have; but a thread is a file, and refuses the one that says how a script on the command line is read (`node
 * --input-type=module --eval …`): then it has none. Options of V8 (`--max-old-space-size`) hold for all threads anyway,
 * and a list that has one of them is refused: so no list is made here.
 */
export function threadOptions(): Pick<WorkerOptions, 'execArgv'> {
  return process.execArgv.some((argument) => argument.startsWith('--input-type')) ? { execArgv: [] } : {};
}
