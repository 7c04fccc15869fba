import { assert } from '../../core/errors.ts';
import { SearchContent } from './search-content.ts';
import type { CandidatePage, Candidates, LogEnd, LogSpan, SearchDoc } from './search-content.ts';
import { deleteSearchFile, openSearchFile, type SearchFile, type SearchFileOptions } from './search-file.ts';

/**
 * A search index in a file of its own: which documents may contain a text. It is derived from the log, never part of a
 * commit, and may lag or be deleted at any time. Several processes may hold the same file open.
 *
 * Every method is synchronous and atomic, and throws the driver's error as it is (see `driverFault`): for `busy` the
 * same call may succeed later; after `corrupt`, `clear` and add everything again.
 */
export interface SearchIndex {
  /** The highest log row that is indexed; 0 in a new index. */
  position(): number;

  /** The same with its mark: where the log has another row there, the index was made of another state of the file. */
  end(): LogEnd;

  /**
   * Adds the documents of a span of the log: ids ascending, all above every id that was ever added. Does nothing and
   * answers `false` when the position is no longer `span.after`, because another process was faster.
   */
  add(docs: readonly SearchDoc[], span: LogSpan): boolean;

  /**
   * Documents that may contain the query, case folded: all that do, and some that do not. The caller verifies each with
   * `matchFolded`. A blank query has none.
   */
  candidates(query: string, page: CandidatePage): Candidates;

  /**
   * Takes documents out of the answers, and keeps those out that are not indexed yet. To be called once their erasure is
   * committed in the log, so that nobody who builds the index anew still reads them there. Their words leave the files
   * with `scrub`.
   */
  remove(docIds: readonly number[]): void;

  /**
   * Removes the words of removed documents from the files, one segment a call (up to half a second). Answers whether
   * there is more to do; `true` as well while another process reads what must go.
   */
  scrub(): boolean;

  /** Deletes the index and begins a new one at position 0. */
  clear(): void;

  /** Closes the file. A second call does nothing. */
  close(): void;
}

/**
 * Opens the search index at a path, made anew when there is none of this store and format. The path is the index's own:
 * whatever else lies there is deleted.
 */
export function openSearchIndex(path: string, options: SearchFileOptions): SearchIndex {
  return new FileSearchIndex(path, options);
}

interface Opened {
  readonly file: SearchFile;
  readonly content: SearchContent;
}

/** Keeps to the file that is at the path now, even when another process has deleted the one that was there. */
class FileSearchIndex implements SearchIndex {
  readonly #path: string;
  readonly #options: SearchFileOptions;
  #opened: Opened | undefined;

  constructor(path: string, options: SearchFileOptions) {
    this.#path = path;
    this.#options = options;
    this.#opened = this.#openFile();
  }

  position(): number {
    return this.#content().position();
  }

  end(): LogEnd {
    return this.#content().end();
  }

  add(docs: readonly SearchDoc[], span: LogSpan): boolean {
    return this.#content().add(docs, span);
  }

  candidates(query: string, page: CandidatePage): Candidates {
    return this.#content().candidates(query, page);
  }

  remove(docIds: readonly number[]): void {
    this.#content().remove(docIds);
  }

  scrub(): boolean {
    return this.#content().scrub();
  }

  clear(): void {
    assert(this.#opened !== undefined, 'the search index is open');
    this.#opened.content.close();
    deleteSearchFile(this.#path);
    this.#opened = this.#openFile();
  }

  close(): void {
    this.#opened?.content.close();
    this.#opened = undefined;
  }

  #content(): SearchContent {
    assert(this.#opened !== undefined, 'the search index is open');
    if (this.#opened.file.isCurrent()) return this.#opened.content;
    this.#opened.content.close();
    this.#opened = this.#openFile();
    return this.#opened.content;
  }

  #openFile(): Opened {
    const file = openSearchFile(this.#path, this.#options);
    return { file, content: new SearchContent(file.database) };
  }
}
