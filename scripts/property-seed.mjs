// Every property test draws from one seed, printed with a failure and named here: the test command does the same work each
// time, and a red test is the change's own. `npm run properties` draws anew.

import { configureGlobal, readConfigureGlobal } from 'fast-check';

const DEFAULT_SEED = 20_261_130;

const seed = Number(process.env['TURNKEEP_PROPERTY_SEED'] ?? DEFAULT_SEED);
configureGlobal({ ...readConfigureGlobal(), seed });
