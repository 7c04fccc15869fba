import type { Workload } from '../workload.ts';
import { alone } from './alone.ts';
import { committers } from './committers.ts';
import { constantPart } from './constant-part.ts';
import { cooling } from './cooling.ts';
import { durability } from './durability.ts';
import { history } from './history.ts';
import { importing } from './importing.ts';
import { lastMessages } from './last-messages.ts';
import { load } from './load.ts';
import { longConversation } from './long-conversation.ts';
import { opening } from './opening.ts';
import { reading } from './reading.ts';
import { rules } from './rules.ts';
import { searching } from './searching.ts';

/** Every workload, in the order of a whole run. */
export const WORKLOADS: readonly Workload[] = [
  durability,
  rules,
  alone,
  committers,
  load,
  history,
  lastMessages,
  longConversation,
  constantPart,
  reading,
  searching,
  opening,
  cooling,
  importing,
];
