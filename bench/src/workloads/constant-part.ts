import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { openLedger } from 'turnkeep';
import type { Contender } from '../contenders/contender.ts';
import { timed } from '../measure/figures.ts';
import { changesOf, makeTurn } from '../measure/turn.ts';
import type { Context, Workload } from '../workload.ts';

const PART_BYTES = 200_000;
/** Those whose turns carry a checkpoint. */
const MEASURED = [
  'turnkeep sqlite',
  'turnkeep journal',
  'turnkeep postgres',
  'langgraph sqlite, synced',
  'langgraph postgres',
  'sqlite rows by hand',
  'jsonl file, not synced',
];

/** A part of the agent's state that never changes, as a system prompt or a table of tools is, in every checkpoint. */
export const constantPart: Workload = {
  name: 'constant-part',
  measures: 'how often 200 KB that never change are stored in 500 checkpoints, and that each still reads back',
  async run(context) {
    const constant = randomBytes((PART_BYTES * 3) / 4).toString('base64');
    for (const contender of await context.contenders(MEASURED)) await copies(context, contender, constant);
    for (const backend of ['sqlite', 'journal'] as const) await readBack(context, backend, constant);
  },
};

/** How many times the part is on the disk: by the bytes of two stores that differ in it alone. */
async function copies(context: Context, contender: Contender, constant: string): Promise<void> {
  const turns = contender.kind === 'turnkeep' ? context.pick(500, 40) : context.pick(100, 10);
  const sizes: number[] = [];
  for (const part of [undefined, constant]) {
    const store = await contender.open(context.folder());
    const times: number[] = [];
    for (let number = 0; number < turns; number++) {
      const turn = { ...makeTurn(number), constant: part };
      times.push(await timed(() => store.turn('talk', turn)));
    }
    sizes.push(await store.close());
    const what = part === undefined ? 'a turn without it' : 'a turn with it';
    context.figure({ what, who: contender.name, unit: 'ms', samples: times });
  }
  const stored = ((sizes[1] ?? 0) - (sizes[0] ?? 0)) / PART_BYTES;
  const what = 'copies for 100 checkpoints';
  context.figure({ what, who: contender.name, unit: 'times', samples: [(stored / turns) * 100] });
  if (contender.kind !== 'turnkeep') return;
  const says = `copies of a part of 200 KB that ${turns} checkpoints hold, of ${contender.name}`;
  context.bar({ name: `${contender.name.split(' ')[1]}-constant-part`, says, ratio: stored, limit: { atMost: 1.5 } });
}

/** Every revision holds the part: 1 if all of them do. */
async function readBack(context: Context, backend: 'sqlite' | 'journal', constant: string): Promise<void> {
  const turns = context.pick(500, 40);
  const url = `${backend}:${join(context.folder(), 'store')}`;
  const writer = await openLedger(url);
  const talk = writer.namespace('bench').conversation('talk');
  for (let number = 0; number < turns; number++) await talk.commit(changesOf({ ...makeTurn(number), constant }));
  await writer.close();
  const ledger = await openLedger(url);
  const { checkpoints } = ledger.namespace('bench').conversation('talk');
  let whole = 0;
  for (let revision = 1; revision <= turns; revision++) {
    const part = (await checkpoints.get('agent', revision))?.payload['constant'];
    if (part && 'json' in part && part.json === constant) whole += 1;
  }
  await ledger.close();
  const says = `revisions of ${turns} that hold the part, read after a reopen, on the ${backend} backend`;
  context.bar({ name: `${backend}-constant-part-reads`, says, ratio: whole / turns, limit: { atLeast: 1 } });
}
