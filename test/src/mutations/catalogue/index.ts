import type { Mutation } from '../mutation.ts';
import { AGENTS } from './agents.ts';
import { ATTACHMENTS } from './attachments.ts';
import { CONVERSATIONS } from './conversations.ts';
import { INPUTS } from './inputs.ts';
import { LEDGER } from './ledger.ts';
import { LOG } from './log.ts';
import { MESSAGES } from './messages.ts';
import { READS } from './reads.ts';
import { STATE } from './state.ts';
import { TIERS } from './tiers.ts';
import { TREE } from './tree.ts';
import { TURNS } from './turns.ts';

/** Every rule of the core, broken once, and what the ledger promises beyond them. */
export const CATALOGUE: readonly Mutation[] = [
  ...TURNS,
  ...AGENTS,
  ...INPUTS,
  ...MESSAGES,
  ...STATE,
  ...CONVERSATIONS,
  ...ATTACHMENTS,
  ...TREE,
  ...LOG,
  ...READS,
  ...TIERS,
  ...LEDGER,
];
