import type { StoreFault } from '../../core/backend.ts';
import { cutsPair, isBlank } from '../../core/fold.ts';
import type { Database } from '../driver/driver.ts';
import type { IndexFeeder } from './index-feeder.ts';
import type { SearchDoc } from '../search/search-content.ts';
import type { SearchIndex } from '../search/search-index.ts';
import type { Checks } from './store-verify.ts';

/** Commits that are looked up, spread over the log, and documents of each. */
const SAMPLES = 500;
const DOCUMENTS = 4;
const QUERY_LENGTH = 48;

/** Looks words of some commits up in the search index. */
export function checksOfIndex(database: Database, index: SearchIndex, feeder: IndexFeeder): Checks {
  const position = index.position();
  const stride = Math.max(1, Math.ceil(position / SAMPLES));
  const sample = database.prepare('SELECT pos FROM log WHERE pos <= ? AND pos % ? = 0').all(position, stride);
  return sample.map((row) => () => checkAt(row[0] as number, index, feeder)); // an integer column
}

function checkAt(pos: number, index: SearchIndex, feeder: IndexFeeder): readonly StoreFault[] {
  const isMissing = () => some(feeder.docsAt(pos), pos).some((doc) => !isFound(index, doc));
  // Another process may meanwhile have begun the index anew, or have taken out what is redacted: it is looked up again.
  if (!isMissing() || index.position() < pos || !isMissing()) return [];
  const reason = 'the search index does not find it: rebuild';
  return [{ kind: 'search_index', place: `log position ${pos}`, reason }];
}

/** Others of each commit. */
function some(docs: readonly SearchDoc[], pos: number): readonly SearchDoc[] {
  const stride = Math.ceil(docs.length / DOCUMENTS);
  return docs.filter((_, at) => at % stride === pos % stride);
}

function isFound(index: SearchIndex, { docId, text }: SearchDoc): boolean {
  if (text === null) return true; // it is a fault of the log, and told as one
  const end = cutsPair(text, QUERY_LENGTH) ? QUERY_LENGTH - 1 : QUERY_LENGTH;
  const query = text.slice(0, end);
  return isBlank(query) || index.candidates(query, { before: docId + 1, limit: 1 }).docIds[0] === docId;
}
