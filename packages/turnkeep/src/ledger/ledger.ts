import type { Backend, Traits } from '../core/backend.ts';
import type { Surroundings } from '../core/commit.ts';
import { assertNamespaceId } from '../core/ids.ts';
import type { NamespaceId } from '../core/ids.ts';
import { Access } from './access.ts';
import { examineBackend } from './upkeep/examine-backend.ts';
import type { Examination } from './upkeep/examine-backend.ts';
import type { LedgerSettings } from './access.ts';
import { Namespace } from './namespace.ts';
import { maintainStore } from './upkeep/maintain.ts';
import type { MaintenanceOptions, MaintenanceReport } from './upkeep/maintain.ts';
import { verifyStore } from './upkeep/verify.ts';
import type { VerifyOptions, VerifyReport } from './upkeep/verify.ts';

/** An open store. Close it when done: what was accepted is finished first. */
export class Ledger {
  readonly #access: Access;

  constructor(
    backend: Backend,
    surroundings: Surroundings,
    mintCommitId: (now: number) => string,
    settings?: LedgerSettings,
  ) {
    this.#access = new Access(backend, surroundings, mintCommitId, settings);
  }

  /** What this store promises, measured when it was opened. */
  get traits(): Traits {
    return this.#access.backend.traits;
  }

  /** The backend itself, for tools that check or maintain it. */
  get backend(): Backend {
    return this.#access.backend;
  }

  /** A handle on a tenant: 1 to 128 of `A-Za-z0-9._@|:+-`, not `.` or `..`. */
  namespace(id: string): Namespace {
    assertNamespaceId(id, 'namespace');
    return new Namespace(this.#access, id);
  }

  /** The namespaces that hold something. */
  async namespaces(): Promise<readonly NamespaceId[]> {
    return this.#access.backend.namespaces();
  }

  /** Walks everything and reports each fault with its place; see {@link verifyStore}. */
  async verify(options: VerifyOptions = {}): Promise<VerifyReport> {
    return verifyStore(this.#access, options);
  }

  /** Removes what was erased from every file, cools what is old, and brings indexes up to date; see {@link maintainStore}. */
  async maintain(options: MaintenanceOptions = {}): Promise<MaintenanceReport> {
    return maintainStore(this.#access, options);
  }

  /** Checks what the open store needs of its surroundings; `examineStore` also works for a store that does not open. */
  async doctor(): Promise<Examination> {
    const findings = await examineBackend(this.#access.backend, this.#access.surroundings);
    return { findings, isHealthy: findings.every(({ status }) => status !== 'problem') };
  }

  /**
   * Closes the store. Runs at work let go first: each rejects with `closed`, and its turn stays as it is, to be resumed. A
   * watcher that waits for a commit rejects with `closed`, too.
   */
  async close(): Promise<void> {
    await this.#access.atWork.leave();
    try {
      await this.#access.backend.close();
    } finally {
      for (const ring of this.#access.waiting) ring();
    }
  }
}
