import type { Backend } from '../core/backend.ts';
import type { Change, Expect } from '../core/change.ts';
import type { Surroundings } from '../core/commit.ts';
import type { NamespaceId } from '../core/ids.ts';
import type { Fence } from '../core/message.ts';
import type { Receipt } from '../core/receipt.ts';
import { Ledger } from '../ledger/ledger.ts';
import type { Conversation } from '../ledger/conversation.ts';
import type { Namespace } from '../ledger/namespace.ts';
import { sameText } from './check.ts';
import { exportText } from './export.ts';
import { TestClock, testCommitIds, testSurroundings } from './surroundings.ts';
import type { ConformanceTarget } from './target.ts';

/** Through what a case looks at what it wrote: the handle that wrote, another one, or one that was opened afterwards. */
export const MODES = ['same_handle', 'second_handle', 'reopen'] as const;
export type Mode = (typeof MODES)[number];

/** What a commit of a case carries beside its changes. */
export interface Sent {
  readonly commitId?: string | undefined;
  readonly expect?: Expect | undefined;
  readonly fence?: Fence | undefined;
}

/** The open handles of one store, shared by the cases of a mode, each in a namespace of its own. */
export class Session {
  readonly target: ConformanceTarget;
  readonly location: string;
  #first: Backend | undefined;
  #second: Backend | undefined;
  /** True where somebody may have written since the last reopening. */
  touched = false;

  constructor(target: ConformanceTarget, location: string) {
    this.target = target;
    this.location = location;
  }

  async first(): Promise<Backend> {
    return (this.#first ??= await this.target.open(this.location));
  }

  async second(): Promise<Backend> {
    if (!this.target.durable) return this.first();
    return (this.#second ??= await this.target.open(this.location));
  }

  async close(): Promise<void> {
    this.touched = false;
    const open = [this.#first, this.#second];
    this.#first = this.#second = undefined;
    for (const backend of open) await backend?.close();
  }

  async destroy(): Promise<void> {
    await this.close();
    await this.target.destroy(this.location);
  }
}

/** A store as a case uses it: a namespace of its own, a clock that it sets, and a view that the mode decides. */
export class Store {
  readonly session: Session;
  readonly mode: Mode;
  readonly namespace: NamespaceId;
  readonly clock: TestClock = new TestClock();
  readonly surroundings: Surroundings;
  readonly #mint: () => string = testCommitIds();

  constructor(session: Session, mode: Mode, namespace: NamespaceId) {
    this.session = session;
    this.mode = mode;
    this.namespace = namespace;
    this.surroundings = testSurroundings(this.clock);
  }

  /** The same handles and clock in another namespace. */
  inNamespace(namespace: NamespaceId): Store {
    return new Store(this.session, this.mode, namespace);
  }

  async backend(): Promise<Backend> {
    return this.session.first();
  }

  /** The handle that writes. */
  async ledger(): Promise<Ledger> {
    this.session.touched = true;
    return this.#over(await this.session.first());
  }

  /** A second handle on the same store, whatever the mode. */
  async otherLedger(): Promise<Ledger> {
    this.session.touched = true;
    return this.#over(await this.session.second());
  }

  /** The handle to look through, by the mode; a reopening closes every handle first, if one was used to write. */
  async reader(): Promise<Ledger> {
    if (this.mode === 'reopen' && this.session.touched) await this.session.close();
    const { session } = this;
    return this.#over(await (this.mode === 'second_handle' ? session.second() : session.first()));
  }

  /** The case's namespace on the handle that writes. */
  async space(): Promise<Namespace> {
    return (await this.ledger()).namespace(this.namespace);
  }

  /** The case's namespace, to look at. */
  async readSpace(): Promise<Namespace> {
    return (await this.reader()).namespace(this.namespace);
  }

  async conversation(id: string): Promise<Conversation> {
    return (await this.space()).conversation(id);
  }

  async look(id: string): Promise<Conversation> {
    return (await this.readSpace()).conversation(id);
  }

  /** Sends changes as one commit on the handle that writes. */
  async commit(conversationId: string, changes: readonly Change[], sent: Sent = {}): Promise<Receipt> {
    return this.send({ commitId: this.#mint(), ...sent, conversationId, changes });
  }

  /** Sends a commit of any shape. */
  async send(commit: { readonly [field: string]: unknown }): Promise<Receipt> {
    return (await this.space()).commit(commit);
  }

  /** All that the namespace holds, as the mode looks at it. */
  async export(): Promise<string> {
    return exportText((await this.reader()).backend, this.namespace);
  }

  /** All that the namespace holds, as the handle that writes sees it now. */
  async exportNow(): Promise<string> {
    return exportText(await this.backend(), this.namespace);
  }

  /** Runs `work` and checks that it left every row and byte as it was. */
  async untouchedBy(work: () => Promise<unknown>): Promise<void> {
    const before = await this.exportNow();
    await work();
    sameText(await this.export(), before, 'what must change nothing changed the store');
  }

  #over(backend: Backend): Ledger {
    return new Ledger(backend, this.surroundings, this.#mint);
  }
}
