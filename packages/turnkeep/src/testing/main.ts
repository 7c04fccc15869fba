import { CLAUSES } from './case.ts';
import { argumentsOf, wrongArguments } from './command-line.ts';
import { runConformance } from './run.ts';
import type { ConformanceResult } from './run.ts';
import { TARGETS } from './targets.ts';

const USAGE = `usage: npm run conformance -- --backend NAME [--filter CLAUSE] [--json]

  --backend NAME   ${[...TARGETS.keys()].join(', ')}
  --filter CLAUSE  a clause (${Object.keys(CLAUSES).join(', ')}), or words of a case's name
  --json           a result on each line, for programs`;

async function main(): Promise<number> {
  const { values } = argumentsOf({
    usage: USAGE,
    options: { backend: { type: 'string' }, filter: { type: 'string' }, json: { type: 'boolean', default: false } },
  });
  const target = TARGETS.get(values.backend ?? '') ?? wrongArguments(unknownBackend(values.backend));
  const count = { passed: 0, failed: 0, not_run: 0 };
  const reasons = new Map<string, number>();
  for await (const result of runConformance(target, { filter: values.filter })) {
    count[result.status] += 1;
    if (result.status === 'not_run')
      reasons.set(`${result.mode}: ${result.reason}`, (reasons.get(`${result.mode}: ${result.reason}`) ?? 0) + 1);
    if (values.json) console.log(jsonOf(result));
    else if (result.status === 'failed') console.log(`${lineOf(result)}\n    ${result.reason}`);
    else if (result.status === 'passed') console.log(lineOf(result));
  }
  for (const [reason, cases] of values.json ? [] : reasons) console.log(`not run  ${cases} cases, ${reason}`);
  if (count.passed + count.failed === 0) console.log(`no case fits ${values.filter ?? 'the suite'}`);
  console.log(`${count.passed} passed, ${count.failed} failed`);
  return count.failed > 0 || count.passed === 0 ? 1 : 0;
}

function unknownBackend(name: string | undefined): string {
  return name === undefined ? '--backend is missing' : `no backend is called '${name}'`;
}

function jsonOf({ error: _error, ...result }: ConformanceResult): string {
  return JSON.stringify(result);
}

function lineOf({ clause, name, mode, status }: ConformanceResult): string {
  return `${status === 'passed' ? 'ok    ' : 'FAILED'} ${clause} [${mode}] ${name}`;
}

process.exitCode = await main();
