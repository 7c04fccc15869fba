import { errorCode } from '../files/file-system.ts';
import type { JournalFile } from '../files/file-system.ts';
import { readPage } from './filter-file.ts';
import type { Stretch } from './filter-file.ts';
import type { Filters } from './filters.ts';
import { mayHave, pageOf } from './gram-pages.ts';
import { queryGrams } from './grams.ts';

/** Asks the filters for one query, from the newest line on. To be closed. */
export class FilterProbe {
  readonly #filters: Filters;
  /** The one that ruled out the last stretch comes first: it is likely to rule out the next, by one page. */
  readonly #grams: number[];
  #open: { readonly name: string; readonly file: JournalFile | undefined } | undefined;
  #asked: { readonly stretch: Stretch; readonly excludes: boolean } | undefined;

  constructor(filters: Filters, query: string) {
    this.#filters = filters;
    this.#grams = queryGrams(query);
  }

  /** The stretch of a line where no line that could be read holds the query; `undefined` where one may. */
  excluding(line: number): Stretch | undefined {
    const asked = this.#asked;
    if (asked && line > asked.stretch.start.n && line <= asked.stretch.end.n)
      return asked.excludes ? asked.stretch : undefined;
    const found = this.#filters.at(line);
    if (!found) return undefined;
    const [stretch, name] = found;
    const excludes = this.#excludes(stretch, name);
    this.#asked = { stretch, excludes };
    return excludes ? stretch : undefined;
  }

  close(): void {
    this.#open?.file?.close();
    this.#open = undefined;
  }

  /** What cannot be read excludes nothing. */
  #excludes(stretch: Stretch, name: string): boolean {
    try {
      const file = this.#fileOf(name);
      return file !== undefined && this.#lacksOne(file, stretch, name);
    } catch (error) {
      if (errorCode(error) === undefined) throw error;
      return false;
    }
  }

  #lacksOne(file: JournalFile, stretch: Stretch, name: string): boolean {
    const pages = new Map<number, Buffer>();
    for (const [at, gram] of this.#grams.entries()) {
      const number = pageOf(gram, stretch.pages.length);
      const page = pages.get(number) ?? readPage(file, stretch, number);
      if (!page) {
        this.#filters.refuse(name, `page ${number} does not match its checksum`);
        return false;
      }
      if (!mayHave(page, gram)) {
        this.#grams.unshift(...this.#grams.splice(at, 1));
        return true;
      }
      pages.set(number, page);
    }
    return false;
  }

  #fileOf(name: string): JournalFile | undefined {
    if (this.#open?.name !== name) {
      this.close();
      this.#open = { name, file: this.#filters.open(name) };
    }
    return this.#open?.file;
  }
}
