import { assertNotAborted } from '../../core/abort.ts';
import type { Access } from '../access.ts';
import { COLLECT, collectNamespace } from './collect.ts';
import type { CollectOptions } from './collect.ts';
import { assertChecked, callback, count, flag } from '../given.ts';
import type { Checks } from '../given.ts';

/** What maintenance does, in this order. */
export type MaintenanceStep = 'rebuild' | 'collect' | 'cool' | 'catch_up';

/** How far maintenance has come. */
export interface MaintenanceProgress {
  /** What is being done now. */
  readonly step: MaintenanceStep;
  /** Namespaces that are done. */
  readonly namespaces: number;
  /** Rows removed with them. */
  readonly rowsRemoved: number;
  /** Attachments that nothing referred to, removed. */
  readonly attachmentsRemoved: number;
  /** Commits that moved into archives. */
  readonly commitsCooled: number;
}

export type MaintenanceReport = Omit<MaintenanceProgress, 'step'>;

export interface MaintenanceOptions extends CollectOptions {
  /** First builds everything derived anew, and accepts that lines of a damaged journal are lost. */
  readonly rebuild?: boolean | undefined;
  /** How many of the newest messages of each conversation stay hot; the store's own number when absent. */
  readonly hotMessages?: number | undefined;
  readonly onProgress?: ((progress: MaintenanceProgress) => void) | undefined;
}

const MAINTENANCE: Checks<MaintenanceOptions> = { ...COLLECT, rebuild: flag, hotMessages: count, onProgress: callback };

/**
 * Does at once what a store otherwise does little by little: removes what erased conversations still hold and attachments
 * that nothing refers to from every file, moves old commits into archives, and brings what is derived up to the log. It
 * changes no answer; if it is stopped, the next call continues.
 */
export async function maintainStore(access: Access, options: MaintenanceOptions): Promise<MaintenanceReport> {
  assertChecked(options, MAINTENANCE);
  const { backend } = access;
  const { hotMessages, signal, onProgress } = options;
  let report: MaintenanceReport = { namespaces: 0, rowsRemoved: 0, attachmentsRemoved: 0, commitsCooled: 0 };
  const begin = (step: MaintenanceStep) => {
    assertNotAborted(signal);
    onProgress?.({ step, ...report });
  };
  if (options.rebuild === true) {
    begin('rebuild');
    await backend.rebuild(signal);
  }
  for (const namespace of await backend.namespaces()) {
    begin('collect');
    const { rows, attachments } = await collectNamespace(access, namespace, options);
    report = {
      ...report,
      rowsRemoved: report.rowsRemoved + rows,
      attachmentsRemoved: report.attachmentsRemoved + attachments,
    };
    begin('cool');
    const { commitsCooled } = report;
    const moved = await backend.cool(namespace, {
      hotMessages,
      signal,
      onProgress: (commits) => onProgress?.({ step: 'cool', ...report, commitsCooled: commitsCooled + commits }),
    });
    report = { ...report, namespaces: report.namespaces + 1, commitsCooled: commitsCooled + moved };
  }
  begin('catch_up');
  await backend.catchUp(signal);
  return report;
}
