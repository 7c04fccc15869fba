import type { Command } from 'commander';
import type { AnswerCommandOptions } from './commands/answer.ts';
import type { AttachmentGetOptions } from './commands/attachment.ts';
import type { EraseOptions } from './commands/erase.ts';
import type { ImportOptions } from './commands/import.ts';
import type { InterruptsOptions } from './commands/interrupts.ts';
import type { LsOptions } from './commands/ls.ts';
import type { MemoriesOptions } from './commands/memories.ts';
import type { MaintainOptions } from './commands/maintain.ts';
import type { ShowOptions } from './commands/show.ts';
import type { TreeCommandOptions } from './commands/tree.ts';
import type { SearchCommandOptions } from './commands/search.ts';
import type { TasksOptions } from './commands/tasks.ts';
import type { UsageOptions } from './commands/usage.ts';
import type { ExitCode } from './exit-codes.ts';
import { oneOf, wholeNumber, withCommonOptions } from './options.ts';
import type { CommonOptions, Shell } from './shell.ts';

/** Adds every command. Each loads its module when it runs, so that none waits for what another needs. */
export function addCommands(program: Command, shell: Shell, settle: (code: ExitCode) => void): void {
  for (const add of [
    addImport,
    addLs,
    addShow,
    addTree,
    addSearch,
    addTasks,
    addInterrupts,
    addAnswer,
    addMemories,
    addUsage,
    addAttachment,
    addErase,
    addVerify,
    addMaintain,
    addDoctor,
    addDemo,
  ])
    add(program, shell, settle);
}

type Add = (program: Command, shell: Shell, settle: (code: ExitCode) => void) => void;

const addImport: Add = (program, shell, settle) => {
  command(program, 'import', 'Import sessions of Claude Code. What is there already is not imported again.', [
    'turnkeep import ~/.claude/projects',
    'turnkeep import session.jsonl --json',
  ])
    .argument('<path...>', 'session files (.jsonl), or folders that hold such files; - for a session on standard input')
    .option('--verbose', 'list every damaged place and every note')
    .action(async (paths: string[], _own: object, self: Command) => {
      const { runImport } = await import('./commands/import.ts');
      settle(await runImport(shell, paths, self.optsWithGlobals<ImportOptions>()));
    });
};

const addLs: Add = (program, shell, settle) => {
  command(program, 'ls', 'List conversations, newest first.', [
    'turnkeep ls --limit 20',
    "turnkeep ls --json | jq -r '.conversations[].conversationId'",
  ])
    .option('--limit <n>', 'conversations of one page (default: 50)', wholeNumber('--limit', 1))
    .option('--after <cursor>', 'the page after this cursor')
    .option('--order <order>', 'activity or created (default: activity)', oneOf('--order', ['activity', 'created']))
    .option('--archived', 'only archived conversations; without it, only the others')
    .option('--all', 'archived or not')
    .option('--owner <id>', 'only those of an owner')
    .option('--label <label>', 'only those with a label')
    .action(async (_own: object, self: Command) => {
      const { runLs } = await import('./commands/ls.ts');
      settle(await runLs(shell, self.optsWithGlobals<LsOptions>()));
    });
};

const addShow: Add = (program, shell, settle) => {
  command(program, 'show', 'Show the transcript of the active path, root first. With --json, one message a line.', [
    'turnkeep show CONVERSATION --limit 8',
    'turnkeep show CONVERSATION --at 12 --full',
  ])
    .argument('<conversation>', 'its id, as ls shows it')
    .option('--leaf <turn>', 'the path to this turn instead of the active one')
    .option('--at <version>', 'as the conversation was after this version', wholeNumber('--at', 1))
    .option('--limit <n>', 'only the newest messages, never between a call and its results', wholeNumber('--limit', 1))
    .option('--full', 'tool inputs and outputs, reasoning and opaque parts whole')
    .action(async (conversation: string, _own: object, self: Command) => {
      const { runShow } = await import('./commands/show.ts');
      settle(await runShow(shell, conversation, self.optsWithGlobals<ShowOptions>()));
    });
};

const addTree: Add = (program, shell, settle) => {
  command(program, 'tree', 'Draw the turn tree: branches, states, edits, the active leaf.', [
    'turnkeep tree CONVERSATION',
  ])
    .argument('<conversation>', 'its id, as ls shows it')
    .option('--at <version>', 'as the conversation was after this version', wholeNumber('--at', 1))
    .option('--full', 'draw every turn of what is long or wide')
    .action(async (conversation: string, _own: object, self: Command) => {
      const { runTree } = await import('./commands/tree.ts');
      settle(await runTree(shell, conversation, self.optsWithGlobals<TreeCommandOptions>()));
    });
};

const addSearch: Add = (program, shell, settle) => {
  command(program, 'search', 'Find a literal text in messages and titles; only case is ignored.', [
    "turnkeep search 'flaky test'",
    'turnkeep search 忘れ --conversation CONVERSATION --json',
  ])
    .argument('<text>', 'any text; there is no query syntax')
    .option('--conversation <id>', 'only what this conversation sees')
    .option('--leaf <turn>', 'with --conversation: only the path to this turn')
    .option('--limit <n>', 'hits of one page (default: 20)', wholeNumber('--limit', 1))
    .option('--after <cursor>', 'the page after this cursor')
    .action(async (text: string, _own: object, self: Command) => {
      const { runSearch } = await import('./commands/search.ts');
      settle(await runSearch(shell, text, self.optsWithGlobals<SearchCommandOptions>()));
    });
};

const addTasks: Add = (program, shell, settle) => {
  command(program, 'tasks', 'List the tasks on the active path of a conversation, or of every conversation.', [
    'turnkeep tasks --open',
    'turnkeep tasks CONVERSATION --json',
  ])
    .argument('[conversation]', 'its id, as ls shows it')
    .option('--leaf <turn>', 'the path to this turn instead of the active one')
    .option('--open', 'only tasks that have not ended')
    .action(async (conversation: string | undefined, _own: object, self: Command) => {
      const { runTasks } = await import('./commands/tasks.ts');
      settle(await runTasks(shell, conversation, self.optsWithGlobals<TasksOptions>()));
    });
};

const addInterrupts: Add = (program, shell, settle) => {
  command(program, 'interrupts', 'List the questions that turns wait on; of a turn, all that it asked.', [
    'turnkeep interrupts',
    "turnkeep interrupts --json | jq -r '.interrupts[].interruptId'",
  ])
    .argument('[conversation]', 'its id, as ls shows it')
    .option('--turn <turn>', 'with a conversation: all that this turn asked, answered or not')
    .action(async (conversation: string | undefined, _own: object, self: Command) => {
      const { runInterrupts } = await import('./commands/interrupts.ts');
      settle(await runInterrupts(shell, conversation, self.optsWithGlobals<InterruptsOptions>()));
    });
};

const addAnswer: Add = (program, shell, settle) => {
  command(
    program,
    'answer',
    'Answer an interrupt. The first answer stands; another one that comes later ends with 5.',
    ["turnkeep answer INTERRUPT 'Yes, refund it' --by ada", `turnkeep answer INTERRUPT '{"approved":true}' --value`],
  )
    .argument('<interrupt>', 'its id, as interrupts shows it')
    .argument('<response>', 'the answer: a text, or with --value any JSON')
    .option('--value', 'the response is JSON')
    .option('--by <id>', 'who answers (default: $USER)')
    .option('--conversation <id>', 'the conversation that asks, where several have such an interrupt')
    .action(async (interrupt: string, response: string, _own: object, self: Command) => {
      const { runAnswer } = await import('./commands/answer.ts');
      settle(await runAnswer(shell, interrupt, response, self.optsWithGlobals<AnswerCommandOptions>()));
    });
};

const addMemories: Add = (program, shell, settle) => {
  command(program, 'memories', 'List the memories of the namespace, oldest first, or those that answer a query best.', [
    'turnkeep memories --subject ada',
    "turnkeep memories 'which port' --json",
  ])
    .argument('[query]', 'words; the best memory comes first')
    .option('--type <type>', 'only those of a type')
    .option('--subject <id>', 'only those about a person')
    .option('--limit <n>', 'the newest, or with a query the best (default: 10)', wholeNumber('--limit', 1))
    .action(async (query: string | undefined, _own: object, self: Command) => {
      const { runMemories } = await import('./commands/memories.ts');
      settle(await runMemories(shell, query, self.optsWithGlobals<MemoriesOptions>()));
    });
};

const addUsage: Add = (program, shell, settle) => {
  command(
    program,
    'usage',
    'Sum up what model calls used: of the namespace, a conversation or a turn; by model or by day.',
    ['turnkeep usage --days --from 2026-11-01', 'turnkeep usage CONVERSATION --json'],
  )
    .argument('[conversation]', 'its id, as ls shows it; its sub-agents count with it')
    .option('--turn <turn>', 'with a conversation: only this turn')
    .option('--days', 'by day, in UTC')
    .option('--from <day>', 'by day, from this one on, as 2026-11-29')
    .option('--to <day>', 'by day, up to this one')
    .action(async (conversation: string | undefined, _own: object, self: Command) => {
      const { runUsage } = await import('./commands/usage.ts');
      settle(await runUsage(shell, conversation, self.optsWithGlobals<UsageOptions>()));
    });
};

const addAttachment: Add = (program, shell, settle) => {
  const group = command(program, 'attachment', 'Keep the bytes of files, and get them back by their digest.', [
    'turnkeep attachment put photo.png',
    'turnkeep attachment get DIGEST > photo.png',
  ]);
  command(group, 'put', 'Keep the bytes of a file; print the digest by which a message refers to them.', [
    'turnkeep attachment put photo.png',
    'tar c notes | turnkeep attachment put - --json',
  ])
    .argument('<file>', 'a file, or - for standard input')
    .action(async (file: string, _own: object, self: Command) => {
      const { runAttachmentPut } = await import('./commands/attachment.ts');
      settle(await runAttachmentPut(shell, file, self.optsWithGlobals<CommonOptions>()));
    });
  command(group, 'get', 'Write the bytes of an attachment to standard output, or to a new file.', [
    'turnkeep attachment get DIGEST > photo.png',
    'turnkeep attachment get DIGEST --output photo.png',
  ])
    .argument('<digest>', 'the SHA-256 of the bytes, as put prints it')
    .option('--output <file>', 'a file that is not there yet')
    .action(async (digest: string, _own: object, self: Command) => {
      const { runAttachmentGet } = await import('./commands/attachment.ts');
      settle(await runAttachmentGet(shell, digest, self.optsWithGlobals<AttachmentGetOptions>()));
    });
};

const addErase: Add = (program, shell, settle) => {
  command(program, 'erase', 'Erase a conversation, or all that a person owns and wrote. It cannot be undone.', [
    'turnkeep erase CONVERSATION --yes',
    'turnkeep erase --subject ada --yes && turnkeep maintain',
  ])
    .argument('[conversation]', 'its id, as ls shows it')
    .option('--subject <id>', 'a person: their conversations, their messages elsewhere, the memories about them')
    .option('--reason <code>', 'kept with what is erased, as gdpr_request')
    .option('--yes', 'without it nothing is erased')
    .action(async (conversation: string | undefined, _own: object, self: Command) => {
      const { runErase } = await import('./commands/erase.ts');
      settle(await runErase(shell, conversation, self.optsWithGlobals<EraseOptions>()));
    });
};

const addVerify: Add = (program, shell, settle) => {
  command(program, 'verify', 'Check every digest, chain, tree and counter of the whole store, all namespaces.', [
    'turnkeep verify --store sqlite:agent.db',
  ]).action(async (_own: object, self: Command) => {
    const { runVerify } = await import('./commands/verify.ts');
    settle(await runVerify(shell, self.optsWithGlobals<CommonOptions>()));
  });
};

const addMaintain: Add = (program, shell, settle) => {
  command(program, 'maintain', 'Remove what was erased from every file, and bring indexes up to date.', [
    'turnkeep maintain --store journal:agent',
  ])
    .option('--rebuild', 'build indexes anew, and accept what verify calls lost')
    .action(async (_own: object, self: Command) => {
      const { runMaintain } = await import('./commands/maintain.ts');
      settle(await runMaintain(shell, self.optsWithGlobals<MaintainOptions>()));
    });
};

const addDoctor: Add = (program, shell, settle) => {
  command(program, 'doctor', 'Say what is wrong with the surroundings of a store, whether it opens or not.', [
    'turnkeep doctor',
    'turnkeep doctor journal:agent --json',
  ])
    .argument('[store]', 'its URL (default: that of --store)')
    .action(async (store: string | undefined, _own: object, self: Command) => {
      const { runDoctor } = await import('./commands/doctor.ts');
      settle(await runDoctor(shell, store, self.optsWithGlobals<CommonOptions>()));
    });
};

const addDemo: Add = (program, shell, settle) => {
  command(program, 'demo', 'Import a session, continue it, kill a writing process, prove that nothing was lost.', [
    'turnkeep demo',
    'turnkeep demo session.jsonl --store sqlite:demo.db',
  ])
    .argument('[file]', 'a session of Claude Code, or a folder of them (default: the bundled example)')
    .action(async (file: string | undefined, _own: object, self: Command) => {
      const { runDemo } = await import('./commands/demo.ts');
      settle(await runDemo(shell, file, self.optsWithGlobals<CommonOptions>()));
    });
};

/** A command with the options that all have, these also where they stand before its name, and examples in its help. */
function command(program: Command, name: string, about: string, examples: readonly string[]): Command {
  const lines = examples.map((example) => `  ${example}`).join('\n');
  const made = program.command(name).description(about).allowExcessArguments(false);
  return withCommonOptions(made).addHelpText('after', `\nExample${examples.length === 1 ? '' : 's'}:\n${lines}`);
}
