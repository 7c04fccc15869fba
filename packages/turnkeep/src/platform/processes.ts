import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename } from 'node:path';

/** A process, told apart from others that had its number before, without a clock. */
export interface Owner {
  readonly pid: number;
  readonly host: string;
  /** Of the machine's start; empty where the system has none. */
  readonly boot: string;
  /** When the process started, in the system's own ticks since the boot; empty where it does not say. */
  readonly start: string;
  /** The process namespace: numbers of another one mean other processes. */
  readonly space: string;
}

/** A file that its owner has open as long as the thread that opened it lives: a process may outlive that. */
export interface HeldFile {
  /** No other file's, wherever it stands. */
  readonly name: string;
  readonly descriptor: number;
}

/** What is asked about processes. Tests hand in their own. */
export interface Processes {
  self(): Owner;
  /** False only where the process surely ended, or let go of the file that it held. */
  mayLive(owner: Owner, held?: HeldFile): boolean;
}

export const realProcesses: Processes = {
  self(): Owner {
    const { pid } = process;
    return { pid, host: hostname(), boot: bootId(), start: startOf(pid), space: processSpace() };
  },
  mayLive(owner, held) {
    if (owner.host !== hostname()) return true;
    if (owner.boot !== bootId()) return false;
    if (owner.space !== processSpace()) return true;
    const isSame = isRunning(owner.pid) && (owner.start === '' || owner.start === startOf(owner.pid));
    return isSame && !(held && hasLetGo(owner.pid, held));
  },
};

/**
 * Opens a file until `close`; the system closes it where the thread ends without. `undefined` where it cannot be opened, as one
 * of a file system that a test made.
 */
export function openToHold(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch {
    return undefined;
  }
}

export function letGo(descriptor: number | undefined): void {
  if (descriptor !== undefined) closeSync(descriptor);
}

/** True only where the system shows what the process has open, and the file is not among it under its number. */
function hasLetGo(pid: number, { name, descriptor }: HeldFile): boolean {
  const open = `/proc/${pid}/fd`;
  try {
    if (!readdirSync(open).includes(String(descriptor))) return true;
    // A file that was removed has a note behind its name.
    return !basename(readlinkSync(`${open}/${descriptor}`)).startsWith(name);
  } catch {
    return false;
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as { readonly code?: unknown }).code === 'EPERM';
  }
}

function bootId(): string {
  return orEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim());
}

function processSpace(): string {
  return orEmpty(() => readlinkSync('/proc/self/ns/pid'));
}

/** The 22nd field of the process's state; its name, which may hold blanks, ends with the last parenthesis. */
function startOf(pid: number): string {
  return orEmpty(() => {
    const state = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return state.slice(state.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  });
}

/** Systems without such a file have no such fact. */
function orEmpty(ask: () => string): string {
  try {
    return ask();
  } catch {
    return '';
  }
}
