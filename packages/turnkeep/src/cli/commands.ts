import type { Command } from 'commander';
import type { ImportOptions } from './commands/import.ts';
import type { LsOptions } from './commands/ls.ts';
import type { MaintainOptions } from './commands/maintain.ts';
import type { ShowOptions } from './commands/show.ts';
import type { TreeCommandOptions } from './commands/tree.ts';
import type { SearchCommandOptions } from './commands/search.ts';
import type { TasksOptions } from './commands/tasks.ts';
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
    .argument('<path...>', 'session files (.jsonl), or folders that hold such files')
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
