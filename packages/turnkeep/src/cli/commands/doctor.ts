import type { Finding } from '../../core/finding.ts';
import { examineStore } from '../../ledger/upkeep/doctor.ts';
import { EXIT } from '../exit-codes.ts';
import type { ExitCode } from '../exit-codes.ts';
import type { Colors } from '../output.ts';
import { storePlace } from '../store-place.ts';
import type { CommonOptions, Shell } from '../shell.ts';
import { counted, safeLine } from '../terminal-text.ts';

const CHECK_COLUMNS = 13;

/** `turnkeep doctor`: what is wrong with a store's surroundings, whether it opens or not. */
export async function runDoctor(shell: Shell, store: string | undefined, options: CommonOptions): Promise<ExitCode> {
  const { url } = storePlace(store ?? options.store, shell.env);
  const examination = await examineStore(url);
  if (options.json) await shell.out.json(examination);
  else await print(shell, examination.findings);
  return examination.isHealthy ? EXIT.ok : EXIT.failure;
}

async function print({ out }: Shell, findings: readonly Finding[]): Promise<void> {
  const { colors } = out;
  for (const { check, status, says, advice } of findings) {
    await out.line(`${signOf(status, colors)} ${check.padEnd(CHECK_COLUMNS)} ${safeLine(says)}`);
    if (advice !== undefined) await out.line(colors.dim(`  ${' '.repeat(CHECK_COLUMNS)} ${safeLine(advice)}`));
  }
  const count = (status: Finding['status']) => findings.filter((one) => one.status === status).length;
  await out.line(`${counted(count('problem'), 'problem')}, ${counted(count('warning'), 'warning')}`);
}

function signOf(status: Finding['status'], colors: Colors): string {
  if (status === 'ok') return colors.green('✓');
  return status === 'warning' ? colors.yellow('!') : colors.red('✗');
}
