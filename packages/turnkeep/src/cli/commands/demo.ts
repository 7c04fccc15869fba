import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ImportReport } from '../../interchange/index.ts';
import type { Conversation } from '../../ledger/conversation.ts';
import type { Namespace } from '../../ledger/namespace.ts';
import { demoCommitId, openingChanges } from '../demo/demo-turns.ts';
import type { DemoNames } from '../demo/demo-turns.ts';
import { openDemoStore } from '../demo/demo-store.ts';
import type { DemoStore } from '../demo/demo-store.ts';
import { killWhileWriting } from '../demo/kill.ts';
import { proveAfterKill } from '../demo/proof.ts';
import * as story from '../demo/story.ts';
import type { Continuation } from '../demo/story.ts';
import { EXIT } from '../exit-codes.ts';
import type { ExitCode } from '../exit-codes.ts';
import { usageError } from '../failure.ts';
import type { CommonOptions, Shell } from '../shell.ts';
import { importInto, messageCount } from './import.ts';
import { drawnTree } from './tree.ts';

/** The session that comes with the package, seen from dist/cli/commands. */
const BUNDLED = join(import.meta.dirname, '../../../examples/claude-code');

/** `turnkeep demo`: imports a session, continues it, kills a writer in the middle, and proves what is there. */
export async function runDemo(shell: Shell, file: string | undefined, options: CommonOptions): Promise<ExitCode> {
  const source = file ?? BUNDLED;
  if (!existsSync(source)) throw usageError(source, 'there is no such file or folder');
  const store = openDemoStore(shell, options);
  try {
    return await demonstrate(shell, source, store, options.json ?? false);
  } finally {
    store.dispose();
  }
}

/** Each part hands on what the next one needs; with `json` nothing is printed before the end. */
async function demonstrate(shell: Shell, source: string, store: DemoStore, json: boolean): Promise<ExitCode> {
  const names: DemoNames = { run: randomUUID().slice(0, 8) };
  const { out } = shell;
  const tell = async (lines: Iterable<string>) => {
    if (json) return;
    await out.lines(lines);
    await out.flush();
  };

  await tell(story.opening(out.colors));
  const { report, continued } = await store.use(async (namespace) => {
    const report = await importInto(shell, namespace, [source]);
    await tell(story.imported(out.colors, source, report));
    return { report, continued: await continueSession(namespace, report, names) };
  });
  await tell(story.continued(out.colors, continued));

  const { conversationId } = continued;
  const killed = await killWhileWriting(
    { url: store.url, namespace: store.namespace, conversationId, run: names.run },
    shell.signal,
  );
  await tell(story.killed(out.colors, killed));

  return store.use(async (namespace, ledger) => {
    const conversation = namespace.conversation(conversationId);
    const proof = await proveAfterKill(ledger, conversation, names, killed, shell.signal);
    const { leaf, title } = await conversation.info();
    const drawing = [...drawnTree(shell, await conversation.graph(), { conversationId, leaf, ends: 2, isBrief: true })];
    await tell(story.tree(out.colors, title, drawing));
    await tell(story.proved(out.colors, proof, ledger.traits));
    await tell(story.ending(out.colors, store, conversationId, proof));
    if (json) await out.json({ source, import: report, continued, killed, proof });
    return proof.holds ? EXIT.ok : EXIT.damage;
  });
}

/** One commit: a turn with prompt and answer, its checkpoint, a task that starts, and a promise. */
async function continueSession(namespace: Namespace, report: ImportReport, names: DemoNames): Promise<Continuation> {
  const { conversation, isNew } = await conversationToContinue(namespace, report, names);
  const active = isNew ? undefined : await conversation.tasks.active();
  const changes = openingChanges(names, active?.taskId);
  const { version } = await conversation.commit(changes, { idempotencyKey: demoCommitId(names, 0) });
  return { conversationId: conversation.id, isNew, version, changes: changes.length };
}

/** The imported conversation with the most messages; a new one where nothing could be imported. */
async function conversationToContinue(
  namespace: Namespace,
  report: ImportReport,
  { run }: DemoNames,
): Promise<{ readonly conversation: Conversation; readonly isNew: boolean }> {
  const bySize = report.conversations.toSorted((left, right) => messageCount(right) - messageCount(left));
  for (const { conversationId } of bySize) {
    const conversation = namespace.conversation(conversationId);
    if ((await conversation.info()).state === 'idle') return { conversation, isNew: false };
  }
  return { conversation: namespace.conversation(`demo-${run}`), isNew: true };
}
