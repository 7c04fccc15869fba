import type { VerifyProgress, VerifyReport } from '../../ledger/upkeep/verify.ts';
import { EXIT } from '../exit-codes.ts';
import type { ExitCode } from '../exit-codes.ts';
import { readStore } from '../shell.ts';
import type { CommonOptions, Shell } from '../shell.ts';
import { counted, safeLine } from '../terminal-text.ts';

/** `turnkeep verify`: walks the whole store, every namespace of it, and reports each fault. */
export async function runVerify(shell: Shell, options: CommonOptions): Promise<ExitCode> {
  const report = await readStore(shell, options, (_namespace, ledger) =>
    ledger.verify({
      signal: shell.signal,
      onProgress: (progress) => shell.progress.show(() => `Verified ${amountOf(progress)} …`),
    }),
  );
  if (options.json) await shell.out.json(report);
  else await print(shell, report);
  return report.faults.length === 0 ? EXIT.ok : EXIT.damage;
}

async function print({ out }: Shell, report: VerifyReport): Promise<void> {
  const { colors } = out;
  for (const { kind, place, reason, affects } of report.faults) {
    await out.line(`${colors.red('✗')} ${colors.bold(safeLine(kind))} at ${safeLine(place)}`);
    await out.line(`    ${safeLine(reason)}`);
    await out.line(colors.dim(`    affects ${safeLine(affects)}`));
  }
  const { faults } = report;
  const result = faults.length === 0 ? colors.green('✓ no faults') : colors.red(`✗ ${counted(faults.length, 'fault')}`);
  await out.line(`${result} in ${amountOf(report)}`);
}

/** `3 conversations, 40 commits, 120 records`. */
export function amountOf({ conversations, commits, records, attachments }: VerifyProgress): string {
  const walked = `${counted(conversations, 'conversation')}, ${counted(commits, 'commit')}, ${counted(records, 'record')}`;
  return attachments === 0 ? walked : `${walked}, ${counted(attachments, 'attachment')}`;
}
