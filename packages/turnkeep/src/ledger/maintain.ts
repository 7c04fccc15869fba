import { assertNotAborted } from './abort.ts';
import type { Access } from './access.ts';
import { sweepScratch } from './scratch.ts';

/** What maintenance does, in this order. */
export type MaintenanceStep = 'rebuild' | 'collect' | 'catch_up';

/** How far maintenance has come. */
export interface MaintenanceProgress {
  /** What is being done. */
  readonly step: MaintenanceStep;
  /** Namespaces whose erased conversations were collected. */
  readonly namespaces: number;
  /** Rows that went with them. */
  readonly rowsRemoved: number;
}

export type MaintenanceReport = Omit<MaintenanceProgress, 'step'>;

export interface MaintenanceOptions {
  /** Builds all that is derived anew first, and accepts that lines of a damaged journal are lost. */
  readonly rebuild?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: MaintenanceProgress) => void) | undefined;
}

/**
 * Does by hand what a store does by and by: removes what erased conversations still hold, out of every file, and brings
 * what is derived up to the log. It changes no answer; where it is stopped it goes on the next time.
 */
export async function maintainStore(access: Access, options: MaintenanceOptions): Promise<MaintenanceReport> {
  const { backend } = access;
  const { signal, onProgress } = options;
  let report: MaintenanceReport = { namespaces: 0, rowsRemoved: 0 };
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
    const removed = await backend.collect(namespace, signal);
    await sweepScratch(access, namespace);
    report = { namespaces: report.namespaces + 1, rowsRemoved: report.rowsRemoved + removed };
  }
  begin('catch_up');
  await backend.catchUp(signal);
  return report;
}
