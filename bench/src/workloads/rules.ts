import { createHash } from 'node:crypto';
import { openLedger } from 'turnkeep';
import { prepareCommit } from 'turnkeep/core';
import type { Surroundings } from 'turnkeep/core';
import { median, timed } from '../measure/figures.ts';
import { changesOf, makeTurn } from '../measure/turn.ts';
import type { Turn } from '../measure/turn.ts';
import type { Workload } from '../workload.ts';

const STRETCH = 200;

/** Nobody reads what is prepared here, so its nonces need not be random. */
const SURROUNDINGS: Surroundings = {
  sha256: (text) => createHash('sha256').update(text).digest('base64url'),
  now: () => 1_700_000_000_000,
  nonce: () => 'AAAAAAAAAAAAAAAAAAAAAA',
};

/**
 * What the rules, digests and checks of a turn take where nothing is written, against what any store that checks its words
 * has to do: write them as JSON, read that, digest it. It tells how much of a commit is ours on whatever machine.
 */
export const rules: Workload = {
  name: 'rules',
  measures: 'a turn on the memory backend, against JSON and one SHA-256 of its words: work of the processor alone',
  async run(context) {
    const ledger = await openLedger('memory:');
    const ratios: number[] = [];
    const times: { readonly ours: number[]; readonly plain: number[]; readonly prepared: number[] } = {
      ours: [],
      plain: [],
      prepared: [],
    };
    for (let round = 0; round < context.pick(40, 12); round++) {
      const talk = ledger.namespace('bench').conversation(`talk-${round}`);
      const turns = Array.from({ length: STRETCH }, (_, number) => makeTurn(number));
      const plain: number[] = [];
      const ours: number[] = [];
      for (const turn of turns) {
        plain.push(await timed(() => plainly(turn)));
        times.prepared.push(await timed(() => prepared(turn)));
        ours.push(await timed(() => talk.commit(changesOf(turn))));
      }
      times.ours.push(...ours);
      times.plain.push(...plain);
      ratios.push(median(ours) / median(plain));
    }
    await ledger.close();
    context.figure({ what: 'one turn', who: 'JSON and SHA-256', unit: 'ms', samples: times.plain });
    context.figure({ what: 'one turn', who: 'checked, copied, digested', unit: 'ms', samples: times.prepared });
    context.figure({ what: 'one turn', who: 'turnkeep memory', unit: 'ms', samples: times.ours });
    context.bar({
      name: 'rules',
      says: 'a turn on the memory backend, against JSON and SHA-256 of the same words',
      ratio: median(ratios),
      limit: { better: 'lower' },
    });
  },
};

function prepared(turn: Turn): unknown {
  const conversationId = 'talk';
  const commit = { commitId: 'turn', namespace: 'bench', conversationId, changes: changesOf(turn) };
  return prepareCommit(commit, SURROUNDINGS);
}

function plainly(turn: Turn): unknown {
  const text = JSON.stringify(changesOf(turn));
  return [JSON.parse(text), createHash('sha256').update(text).digest('base64url')];
}
