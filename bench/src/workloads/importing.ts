import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLedger } from 'turnkeep';
import type { Ledger } from 'turnkeep';
import { importClaudeCode } from 'turnkeep/interchange';
import { timed } from '../measure/figures.ts';
import { textOf } from '../measure/turn.ts';
import type { Context, Workload } from '../workload.ts';

const SESSION = '5e551000-0000-4000-8000-00000000000b';

/** One session file of Claude Code: prompts, answers, a tool call with its result in every turn. */
export const importing: Workload = {
  name: 'importing',
  measures: 'an import of one Claude Code session of 10,000 rows, and the same again into the store that has it',
  async run(context) {
    const file = join(context.folder(), `${SESSION}.jsonl`);
    const rows = context.pick(10_000, 1_000);
    writeFileSync(file, sessionOf(rows));
    for (const backend of ['memory', 'sqlite', 'journal'] as const) await measure(context, backend, file, rows);
  },
};

async function measure(
  context: Context,
  backend: 'memory' | 'sqlite' | 'journal',
  file: string,
  rows: number,
): Promise<void> {
  const ledger = await openLedger(backend === 'memory' ? 'memory:' : `${backend}:${join(context.folder(), 'store')}`);
  const who = `turnkeep ${backend}`;
  for (const what of ['rows imported a second', 'the same again']) {
    const tookMs = await timed(() => importClaudeCode(targetOf(ledger), [file]));
    context.figure({ what, who, unit: 'messages/s', samples: [(rows * 1_000) / tookMs] });
    if (what === 'the same again') continue;
    const mib = statSync(file).size / 2 ** 20;
    context.note(`${who}: ${mib.toFixed(1)} MiB of JSONL in ${(tookMs / 1_000).toFixed(1)} s`);
  }
  await ledger.close();
}

function targetOf(ledger: Ledger) {
  const namespace = ledger.namespace('bench');
  return {
    namespace: 'bench',
    commit: async (commit: object) => namespace.commit({ ...commit }),
    head: async (conversationId: string) => {
      const conversation = namespace.conversation(conversationId);
      return (await conversation.exists()) ? conversation.info() : undefined;
    },
  };
}

/** Rows of a session, four to a turn: prompt, call, result, answer. */
function sessionOf(rows: number): string {
  const lines = Array.from({ length: rows }, (_, at) => JSON.stringify({ ...envelope(at), ...said(at) }));
  return `${lines.join('\n')}\n`;
}

function envelope(at: number): object {
  const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
  return {
    parentUuid: at === 0 ? null : uuid(at - 1),
    isSidechain: false,
    userType: 'external',
    cwd: '/srv/kiln',
    sessionId: SESSION,
    version: '2.1.144',
    gitBranch: 'main',
    uuid: uuid(at),
    timestamp: new Date(Date.UTC(2026, 4, 4, 10) + at * 1_000).toISOString(),
  };
}

function said(at: number): object {
  const turn = Math.floor(at / 4);
  const call = `toolu_${turn}`;
  const assistant = (part: number, content: object) => ({
    type: 'assistant',
    requestId: `req_${turn}_${part}`,
    message: { id: `msg_${turn}_${part}`, type: 'message', role: 'assistant', model: 'a-model', content: [content] },
  });
  if (at % 4 === 0) return { type: 'user', message: { role: 'user', content: textOf(300) } };
  if (at % 4 === 1) return assistant(1, { type: 'tool_use', id: call, name: 'Read', input: { file_path: textOf(40) } });
  if (at % 4 === 3) return assistant(3, { type: 'text', text: textOf(600) });
  const result = { type: 'tool_result', tool_use_id: call, content: textOf(1_000) };
  return { type: 'user', message: { role: 'user', content: [result] } };
}
