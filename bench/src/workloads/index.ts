import type { Workload } from '../workload.ts';
import { alone } from './alone.ts';
import { committers } from './committers.ts';
import { history } from './history.ts';
import { load } from './load.ts';
import { longConversation } from './long-conversation.ts';

/** Every workload, in the order of a whole run. */
export const WORKLOADS: readonly Workload[] = [alone, committers, load, history, longConversation];
