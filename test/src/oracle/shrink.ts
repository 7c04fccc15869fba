import { replay } from './drive.ts';
import type { Item } from './trace.ts';
import type { Difference, Subject } from './world.ts';

export interface Shrunk {
  readonly trace: readonly Item[];
  readonly difference: Difference;
}

/** The shortest trace that was found to end in a difference of the same sort. */
export async function shrink(trace: readonly Item[], difference: Difference, subject: Subject): Promise<Shrunk> {
  const sort = sortOf(difference);
  const fails = async (candidate: readonly Item[]): Promise<Difference | undefined> => {
    const found = await replay(candidate, subject).catch(() => undefined);
    return found && sortOf(found) === sort ? found : undefined;
  };
  let best: Shrunk = { trace, difference };
  for (let shorter: Shrunk | undefined = best; shorter;) {
    best = shorter;
    shorter = (await withoutCommits(best, fails)) ?? (await withoutChanges(best, fails));
  }
  return best;
}

type Fails = (trace: readonly Item[]) => Promise<Difference | undefined>;

/** Whether an answer, an outcome or an invariant is at fault: more would keep a trace from losing what hides the fault. */
function sortOf({ about, question }: Difference): string {
  return question ? 'answer' : about.replace(/[ct]\d+|\d+/g, '').slice(0, 24);
}

async function withoutCommits(from: Shrunk, fails: Fails): Promise<Shrunk | undefined> {
  let { trace, difference } = from;
  for (let size = Math.ceil(trace.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = trace.length - size; at >= 0; at -= size) {
      const candidate = [...trace.slice(0, at), ...trace.slice(at + size)];
      const found = await fails(candidate);
      if (found) [trace, difference] = [candidate, found];
    }
  }
  return trace.length < from.trace.length ? { trace, difference } : undefined;
}

async function withoutChanges(from: Shrunk, fails: Fails): Promise<Shrunk | undefined> {
  for (const [at, item] of from.trace.entries()) {
    for (const change of item.commit.changes.length > 1 ? item.commit.changes : []) {
      const changes = item.commit.changes.filter((one) => one !== change);
      const trace = from.trace.with(at, { ...item, commit: { ...item.commit, changes } });
      const difference = await fails(trace);
      if (difference) return { trace, difference };
    }
  }
  return undefined;
}
