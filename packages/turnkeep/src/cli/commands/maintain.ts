import type { MaintenanceProgress, MaintenanceReport } from '../../ledger/upkeep/maintain.ts';
import { EXIT } from '../exit-codes.ts';
import type { ExitCode } from '../exit-codes.ts';
import { changeStore } from '../shell.ts';
import type { CommonOptions, Shell } from '../shell.ts';
import { counted } from '../terminal-text.ts';

export interface MaintainOptions extends CommonOptions {
  readonly rebuild?: boolean | undefined;
}

/** `turnkeep maintain`: does now, with every namespace, what a store does by and by. */
export async function runMaintain(shell: Shell, options: MaintainOptions): Promise<ExitCode> {
  const report = await changeStore(shell, options, (_namespace, ledger) =>
    ledger.maintain({
      rebuild: options.rebuild,
      signal: shell.signal,
      onProgress: (progress) => shell.progress.show(() => stepOf(progress)),
    }),
  );
  if (options.json) await shell.out.json(report);
  else await shell.out.line(`${shell.out.colors.green('✓ maintained')} ${amountOf(report)}`);
  return EXIT.ok;
}

function stepOf({ step, namespaces, commitsCooled }: MaintenanceProgress): string {
  if (step === 'rebuild') return 'Building indexes anew …';
  if (step === 'catch_up') return 'Bringing indexes up to date …';
  const what = step === 'collect' ? 'Collecting' : `Moving old commits into archives, ${commitsCooled} so far`;
  return `${what}, ${counted(namespaces, 'namespace')} done …`;
}

function amountOf({ namespaces, rowsRemoved, attachmentsRemoved, commitsCooled }: MaintenanceReport): string {
  return [
    counted(namespaces, 'namespace'),
    `${counted(rowsRemoved, 'row')} of erased conversations removed`,
    ...(attachmentsRemoved > 0 ? [`${counted(attachmentsRemoved, 'attachment')} without a reference removed`] : []),
    `${counted(commitsCooled, 'commit')} moved into archives`,
  ].join(', ');
}
