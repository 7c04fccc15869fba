import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

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

/** What is asked about processes. Tests hand in their own. */
export interface Processes {
  self(): Owner;
  /** False only where the process surely ended. */
  mayLive(owner: Owner): boolean;
}

export const realProcesses: Processes = {
  self(): Owner {
    const { pid } = process;
    return { pid, host: hostname(), boot: bootId(), start: startOf(pid), space: processSpace() };
  },
  mayLive(owner) {
    if (owner.host !== hostname()) return true;
    if (owner.boot !== bootId()) return false;
    if (owner.space !== processSpace()) return true;
    return isRunning(owner.pid) && (owner.start === '' || owner.start === startOf(owner.pid));
  },
};

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
