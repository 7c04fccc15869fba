/**
 * The options of Node.js that a thread of ours runs with: those of the process, without the one that says how a script
 * on the command line is read (`node --input-type=module --eval …`). A thread is a file, and refuses it.
 */
export function threadArgv(): string[] {
  return process.execArgv.filter((argument, at, all) => {
    return !argument.startsWith('--input-type') && all[at - 1] !== '--input-type';
  });
}
