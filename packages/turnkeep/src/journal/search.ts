import type { SearchCandidates, SearchPlace, SearchQuery } from '../core/backend.ts';
import type { ConversationId, NamespaceId } from '../core/ids.ts';
import { numbersIn } from '../core/keys.ts';
import { assertCertain, doubtful } from './log/doubts.ts';
import type { Doubt } from './log/doubts.ts';
import { FilterProbe } from './filters/filter-probe.ts';
import { INDEX, NO_CONVERSATION } from './index/index-keys.ts';
import type { IndexState } from './index/index-state.ts';
import { LineCheck } from './log/line-check.ts';
import { unpackPlace } from './log/place.ts';
import type { Place } from './log/place.ts';
import type { StoreParts } from './store-parts.ts';

/** Bytes of lines that one call looks at: some 20 ms; less where it has found some, which may be all that is asked for. */
const SLICE_BYTES = 4_194_304;
const FOUND_SLICE_BYTES = 131_072;
/** What else it does, as bytes that would take as long: to pass a line, or a stretch that a filter rules out. */
const PASSED_LINE = 1_024;
const PASSED_STRETCH = 8_192;

/**
 * Commits that may hold a match, newest first: core looks into each. Stretches of the log that a filter rules out are passed
 * over; of the others come the lines in which the text stands somewhere, and those that cannot be read. A page ends behind
 * lines that are lost; who goes on from there is told (`corrupt`).
 */
export function searchCandidates(parts: StoreParts, namespace: NamespaceId, query: SearchQuery): SearchCandidates {
  const { index, folds, filters, segments } = parts;
  const { conversationId, limit } = query;
  const { doubts } = folds.state;
  const owners = conversationId === undefined ? undefined : lineage(index, namespace, conversationId);
  for (const owner of owners ?? []) assertCertain(doubts, owner);
  const before = query.before === undefined ? Infinity : Number(query.before);
  const gap = owners ? undefined : newestBelow(doubts, before);
  const places: SearchPlace[] = [];
  const probe = new FilterProbe(filters, query.text);
  const check = new LineCheck(segments, query.text);
  let seen = 0;
  try {
    const lines = new Lines(index, namespace, gap ? gap.to + 1 : 0);
    for (const step of lines.down(before, probe)) {
      const slice = places.length > 0 ? FOUND_SLICE_BYTES : SLICE_BYTES;
      if (places.length >= limit || seen >= slice) return { places, next: String(step.n + 1) };
      if (step.kind === 'passed') {
        seen += PASSED_STRETCH;
        continue;
      }
      const place = owners?.has(step.conversationId) === false ? undefined : lines.place(step);
      seen += place?.length ?? PASSED_LINE;
      if (!place || !check.mayHold(place, step.n)) continue;
      places.push({ conversationId: step.conversationId, version: step.version, cursor: String(step.n) });
    }
  } finally {
    probe.close();
  }
  if (gap && places.length === 0) throw doubtful(gap);
  return gap ? { places, next: String(gap.to + 1) } : { places };
}

interface Line {
  readonly kind: 'line';
  readonly n: number;
  readonly conversationId: ConversationId;
  readonly version: number;
}

/** The lines of a stretch were passed over, from a number downwards. */
interface Passed {
  readonly kind: 'passed';
  readonly n: number;
}

/** The commits of a namespace by the numbers of their lines. */
class Lines {
  readonly #index: IndexState;
  readonly #namespace: NamespaceId;
  readonly #from: number;

  constructor(index: IndexState, namespace: NamespaceId, from: number) {
    this.#index = index;
    this.#namespace = namespace;
    this.#from = from;
  }

  /** Those below a number that no filter rules out, and where it does; downwards. */
  *down(before: number, probe: FilterProbe): Generator<Line | Passed> {
    for (let below: number | undefined = before; below !== undefined;) {
      let next: number | undefined;
      for (const line of this.#below(below)) {
        const stretch = probe.excluding(line.n);
        if (!stretch) {
          yield line;
          continue;
        }
        yield { kind: 'passed', n: line.n };
        yield* this.#unreadable(stretch.unreadable, line.n);
        next = stretch.start.n + 1;
        break;
      }
      below = next;
    }
  }

  /** Where a line stands. */
  place({ conversationId, version }: Line): Place | undefined {
    const row = this.#index.get(this.#namespace, conversationId, INDEX.place(version));
    return row && unpackPlace(row);
  }

  *#below(before: number): Generator<Line> {
    const to = before === Infinity ? INDEX.feedEnd : INDEX.feed(before);
    const range = { from: INDEX.feed(this.#from), to, reverse: true };
    for (const { key, value } of this.#index.entries(this.#namespace, NO_CONVERSATION, range))
      yield lineOf(lineNumber(key), value);
  }

  /** Of lines whose words could not be read, the namespace's own up to a number. */
  *#unreadable(numbers: readonly number[], upTo: number): Generator<Line> {
    for (const n of numbers.toReversed()) {
      if (n > upTo || n < this.#from) continue;
      const value = this.#index.get(this.#namespace, NO_CONVERSATION, INDEX.feed(n));
      if (value) yield lineOf(n, value);
    }
  }
}

function lineOf(n: number, value: readonly unknown[]): Line {
  const [conversationId, version] = value as readonly [ConversationId, number];
  return { kind: 'line', n, conversationId, version };
}

/** Of the lost lines below a number those that a search from there meets first. */
function newestBelow(doubts: readonly Doubt[], before: number): Doubt | undefined {
  const below = doubts.filter(({ from }) => from < before);
  return below.toSorted((left, right) => right.to - left.to)[0];
}

export function lineNumber(key: string): number {
  return numbersIn(key, 1)[0] as number; // a feed's key is a letter and a number
}

/** A conversation and those that it inherits from. */
function lineage(index: IndexState, namespace: NamespaceId, start: ConversationId): ReadonlySet<ConversationId> {
  const owners = new Set<ConversationId>();
  for (let next: ConversationId | null = start; next !== null;) {
    owners.add(next);
    next = index.head(namespace, next)?.source ?? null;
  }
  return owners;
}
